import { isLong } from '../../test/long-tier.ts'

/** The time limit in seconds for a test file, unless it says otherwise. A busy machine needs twice the time. */
export const secondsFor = (file: string): number => isLong(file) ? 300 : 120
