// Numbers by which the kernel's routes say who has written them, as far as more than one part of a node has to know them.

/** Routes of BGP sessions that start anew, kept until BIRD has them again. */
export const bridgeProtocol = 81;
