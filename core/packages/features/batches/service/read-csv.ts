import { delimiterOf } from '@dispatch/common'
import { DispatchError, refusal } from '@dispatch/contract'
import { CsvError, parse } from 'csv-parse'
import { Readable } from 'node:stream'
import type { Mapping } from '../contract/batches.ts'
import { type Columns, columnsOf } from './columns.ts'
import { largestRow, maxEmptyLines, notUtf8, problemOf, type ReadRow, rowOf, rowTooLarge, tooManyEmptyLines } from './row.ts'

/** In characters: a heading is looked for in so many. */
const longestHeading = 1024 * 1024

/**
 * The rows of a CSV file (RFC 4180) in UTF-8 with a heading; separated by what its heading has most of: commas, semicolons or tabs. Throws
 * a DispatchError for what is no such file: where a quotation mark is missing, nobody can tell where the next row begins.
 */
export async function* readCsv (bytes: AsyncIterable<Buffer>, mapping: Mapping | undefined): AsyncGenerator<ReadRow, void> {
  const texts = textsOf(bytes)
  const beginning = await headingIn(texts)
  const parser = parse({
    delimiter: delimiterOf(beginning),
    bom: true,
    skip_empty_lines: true,
    relax_column_count: true,
    max_record_size: largestRow
  })
  const source = Readable.from(joined(beginning, texts, () => {
    if (parser.info.empty_lines > maxEmptyLines) throw tooManyEmptyLines()
  }))
  source.on('error', (error) => parser.destroy(error))
  source.pipe(parser)
  // 0 is the heading.
  let number = -1
  let columns: Columns | undefined
  try {
    for await (const cells of parser as AsyncIterable<string[]>) {
      number++
      if (columns === undefined) columns = columnsOf(cells.map((name) => name.trim()), mapping)
      else yield rowIn(number, columns(cells))
    }
  } catch (error) {
    throw error instanceof CsvError ? unreadable(error) : error
  } finally {
    source.destroy()
  }
}

/** The fault of a file that is no CSV. Rows have the numbers of the results: lines are no places, where cells have several. */
function unreadable ({ code, records = 0 }: CsvError & { records?: number }): Error {
  const place = records === 0 ? 'The heading' : `Row ${records}`
  if (code === 'CSV_MAX_RECORD_SIZE') return rowTooLarge(place)
  const why = code.includes('QUOTE')
    ? 'a quotation mark is missing, or stands where none may: in a cell in quotes it is written twice'
    : 'it is no CSV'
  return refusal('validation_error', [{ path: '/file', code: 'unreadable', message: `${place} cannot be read: ${why}.` }])
}

function rowIn (number: number, read: ReturnType<Columns>): ReadRow {
  return 'fields' in read ? rowOf(number, read.fields) : { number, problem: problemOf(refusal('validation_error', read.problems)) }
}

async function* textsOf (bytes: AsyncIterable<Buffer>): AsyncGenerator<string, void> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const decoded = (piece?: Buffer): string => {
    try {
      return piece === undefined ? decoder.decode() : decoder.decode(piece, { stream: true })
    } catch {
      throw notUtf8('The file')
    }
  }
  for await (const piece of bytes) yield decoded(piece)
  yield decoded()
}

/** The beginning of a text, with its first line. */
async function headingIn (texts: AsyncGenerator<string, void>): Promise<string> {
  let beginning = ''
  while (!/[\r\n]/.test(beginning.trimStart())) {
    if (beginning.length > longestHeading) {
      await texts.return()
      throw new DispatchError('payload_too_large', `The heading has more than ${longestHeading} characters, or the file has no lines.`)
    }
    const { value, done } = await texts.next()
    if (done === true) break
    beginning += value
  }
  return beginning
}

/** Both, one after the other; `check` is called for each text that has been read. */
async function* joined (first: string, rest: AsyncIterable<string>, check: () => void): AsyncGenerator<string, void> {
  if (first !== '') yield first
  for await (const text of rest) {
    check()
    yield text
  }
}
