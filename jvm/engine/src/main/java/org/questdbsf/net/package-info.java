/** Under construction. */
package org.questdbsf.net;
