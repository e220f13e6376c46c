import type { Test } from 'tap'

/** By the address of a test file, the test that stands for it in a process that runs several. */
export const ownTests = new Map<string, Test>()
