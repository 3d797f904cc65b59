/** Under construction. */
package org.questdbsf.sender;
