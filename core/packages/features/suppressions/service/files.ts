import { delimiterOf, type JsonObject } from '@dispatch/common'
import { DispatchError, refusal } from '@dispatch/contract'
import { CsvError, parse } from 'csv-parse'
import { isUtf8 } from 'node:buffer'
import { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { type ImportQuery, maxImported, type SuppressionView } from '../contract/suppressions.ts'

/** Rows after which others have a turn. */
const atOnce = 500

/** An import in CSV (RFC 4180) with a heading, as the body that it stands for. What it does not say of its rows, the query says. */
export async function readCsv (bytes: Buffer, query: ImportQuery): Promise<JsonObject> {
  if (!isUtf8(bytes)) throw unreadable('The file is not UTF-8: save it as UTF-8, and send it again.')
  const text = bytes.toString('utf8')
  const suppressions: JsonObject[] = []
  const rows = Readable.from([text]).pipe(
    parse({ delimiter: delimiterOf(text), bom: true, skip_empty_lines: true, columns: namesOf, trim: true })
  )
  try {
    for await (const row of rows as AsyncIterable<Record<string, string>>) {
      if (suppressions.length === maxImported) throw tooMany()
      const said = Object.entries(row).filter(([name, value]) => name !== 'since' && value !== '')
      suppressions.push({ ...query, ...Object.fromEntries(said) })
      if (suppressions.length % atOnce === 0) await setImmediate()
    }
  } catch (error) {
    throw error instanceof CsvError ? unreadable(faultIn(error)) : error
  }
  return { suppressions }
}

function tooMany (): DispatchError {
  return new DispatchError('payload_too_large', `An import has at most ${maxImported} addresses: send several.`)
}

function namesOf (heading: string[]): string[] {
  const names = heading.map((name) => name.toLowerCase())
  const unknown = names.find((name) => !heading.some((known) => known === name))
  if (unknown !== undefined || !names.includes('address')) {
    throw refusal('validation_error', [{
      path: '',
      code: 'heading',
      message: `The first line names the columns: address, and where you want channel, reason and note${
        unknown === undefined ? '' : `; not "${unknown.slice(0, 60)}"`
      }.`
    }])
  }
  return names
}

/** Why a file is no CSV: rows are counted after the heading. */
function faultIn ({ code, ['header']: isHeading, ['records']: before }: CsvError): string {
  const why = code.includes('QUOTE')
    ? 'a quotation mark is missing, or stands where none may: in a cell in quotes it is written twice'
    : 'it has not as many cells as the heading'
  return `${isHeading === true ? 'The heading' : `Row ${Number(before) + 1}`} cannot be read: ${why}.`
}

function unreadable (message: string): DispatchError {
  return refusal('validation_error', [{ path: '', code: 'unreadable', message }])
}

/** The columns of a file that is exported, which can be imported again: since when is not taken over. */
const heading = ['channel', 'address', 'reason', 'note', 'since'] as const

/** Suppressions as text: an object on each line. */
export async function* asNdjson (pages: AsyncIterable<readonly SuppressionView[]>): AsyncGenerator<string, void> {
  for await (const page of pages) yield page.map((one) => `${JSON.stringify(one)}\n`).join('')
}

/** Suppressions as CSV in UTF-8. What a spreadsheet would take for a formula has an apostrophe before it, but for phone numbers. */
export async function* asCsv (pages: AsyncIterable<readonly SuppressionView[]>): AsyncGenerator<string, void> {
  yield `${heading.join(',')}\r\n`
  for await (const page of pages) yield page.map((one) => `${heading.map((name) => cell(one[name] ?? '')).join(',')}\r\n`).join('')
}

function cell (text: string): string {
  const plain = /^[=@\t\r-]|^\+(?!\d+$)/.test(text) ? `'${text}` : text
  return /[",;\t\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain
}
