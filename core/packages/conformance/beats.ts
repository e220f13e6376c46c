/** Milliseconds between two signs of life of the process of the kit, and between two lines about its processor time. */
export const beatEvery = 250

/** The file descriptor of that process to which it writes the lines: the one after the channel for messages. */
export const pulsePipe = 4
