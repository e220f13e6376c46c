/** The time of every call of the kit. */
export const now = (): Date => new Date('2026-03-14T09:30:00.000Z')
