import pLimit from 'p-limit'

/** The most of a turn that is worked on at once. */
const atOnce = 4

/** Works on a few at a time. A process has one turn at a time. */
export const each = <Row, Made>(rows: readonly Row[], work: (row: Row) => Promise<Made>): Promise<Made[]> => pLimit(atOnce).map(rows, work)
