/** Under construction. */
package org.questdbsf.qwp;
