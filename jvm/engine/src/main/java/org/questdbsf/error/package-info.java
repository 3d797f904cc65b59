/**
 * The error type that every room raises, and its codes. Knows no other room. Start with {@link
 * org.questdbsf.error.ErrorCode}.
 */
package org.questdbsf.error;
