/** How the process of a benchmark ended (`code` is null after a signal), and its output. */
export type Ended = { code: number | null, output: string }

/** Why a benchmark counts as failed, as the end of a sentence; undefined if it ended well and every cell of its tables has a figure. */
export function faultOf ({ code, output }: Ended): string | undefined {
  if (code !== 0) return code === null ? 'was stopped' : `ended with ${code}`
  const rows = output.split('\n').filter((line) => line.startsWith('│'))
  // The first row of a table has the names of its columns.
  if (rows.length < 2) return 'printed no table'
  const cells = rows.flatMap((row) => row.split('│'))
  if (cells.some((cell) => /^\s*['"]?(NaN|Infinity|undefined|null)\b/.test(cell))) return 'lacks a figure'
  return undefined
}
