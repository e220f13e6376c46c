import { isLong } from '../../test/long-tier.ts'

/** The time limit in seconds for a test file, unless it says otherwise. On a busy machine a file takes five times as long as alone. */
export const secondsFor = (file: string): number => isLong(file) ? 1200 : 300
