/** How the process of a benchmark ended (`code` is null after a signal), and what it printed. */
export type Ended = { code: number | null, output: string }

/** Why a benchmark counts as failed: in a sentence's end; undefined where it ended well and every place of its tables has its figure. */
export function faultOf ({ code, output }: Ended): string | undefined {
  if (code !== 0) return code === null ? 'was stopped' : `ended with ${code}`
  const rows = output.split('\n').filter((line) => line.startsWith('│'))
  // The first row of a table names its columns.
  if (rows.length < 2) return 'printed no table'
  if (rows.some((row) => /\b(NaN|Infinity|undefined|null)\b/.test(row))) return 'lacks a figure'
  return undefined
}
