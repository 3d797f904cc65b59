/** Under construction. */
package org.questdbsf.slot;
