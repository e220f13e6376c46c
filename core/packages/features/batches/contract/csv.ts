import { CsvError } from 'csv-parse'
import { parse } from 'csv-parse/sync'

/** What separates the cells of a CSV file: what its heading has most of, commas, semicolons or tabs. */
export function delimiterOf (beginning: string): string {
  const [heading = ''] = beginning.trimStart().replaceAll(/"[^"]*"/g, '').split(/[\r\n]/, 1)
  const counts = [',', ';', '\t'].map((sign) => ({ sign, count: heading.split(sign).length }))
  return counts.sort((one, other) => other.count - one.count)[0]?.sign ?? ','
}

/** The heading of a CSV file and so many of its first rows; nothing of a file that is none. */
export function headOf (file: Buffer, rows: number): string[][] {
  const text = file.toString('utf8')
  try {
    return parse(text, { delimiter: delimiterOf(text), bom: true, skip_empty_lines: true, relax_column_count: true, to: rows + 1 })
  } catch (error) {
    if (error instanceof CsvError) return []
    throw error
  }
}
