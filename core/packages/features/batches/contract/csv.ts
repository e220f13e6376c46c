import { delimiterOf } from '@dispatch/common'
import { CsvError } from 'csv-parse'
import { parse } from 'csv-parse/sync'

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
