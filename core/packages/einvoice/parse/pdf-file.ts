import { constants, inflateSync } from 'node:zlib'
import { damaged, type Dictionary, isDictionary, isList, isReference, PdfReader, type PdfValue } from './pdf-syntax.ts'
import { UnreadableInvoice } from './unreadable.ts'

/** A PDF: its trailer, its objects, and the content of its streams. What refers to itself is null where it does. */
export type PdfFile = {
  trailer: Dictionary
  /** The value, or what it refers to. */
  resolve: (value: PdfValue | undefined) => PdfValue
  /** The decoded content of the stream that a reference names; undefined where it names none. */
  content: (reference: PdfValue | undefined) => Buffer | undefined
}

/** More objects than any invoice has. */
const maxObjects = 500_000
const maxSections = 1000

/** Where an object is: at a byte, or in a stream of objects. */
type Entry = { at: number } | { stream: number, index: number }
type Found = { value: PdfValue, stream: { start: number } | undefined }

/**
 * Opens a PDF by its tables of objects (ISO 32000-2, 7.5). `max`: how many bytes may come out of its compressed streams, in all. Throws
 * `UnreadableInvoice` for a damaged file and for one that unpacks to more.
 */
export function openPdf (bytes: Uint8Array, max: number): PdfFile {
  const whole = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const buffer = whole.subarray(Math.max(whole.indexOf('%PDF-'), 0))
  const text = buffer.toString('latin1')
  const entries = new Map<number, Entry>()
  const known = new Map<number, Found>()
  const opening = new Set<number>()
  const streams = new Map<number, PdfValue[]>()
  let left = max

  function resolve (value: PdfValue | undefined): PdfValue {
    return isReference(value) ? find(value.reference).value : value ?? null
  }

  function find (number: number): Found {
    const before = known.get(number)
    if (before !== undefined) return before
    const entry = entries.get(number)
    if (entry === undefined || opening.has(number)) return { value: null, stream: undefined }
    opening.add(number)
    try {
      const found = 'at' in entry ? objectAt(entry.at) : { value: inStream(entry.stream)[entry.index] ?? null, stream: undefined }
      known.set(number, found)
      return found
    } finally {
      opening.delete(number)
    }
  }

  function objectAt (at: number): Found {
    const reader = new PdfReader(text, at)
    reader.skipSpace()
    if (reader.take(/\d+\s+\d+\s+obj/y) === undefined) throw damaged(`there is no object at byte ${at}`)
    const value = reader.value()
    reader.skipSpace()
    return { value, stream: reader.take(/stream(\r\n|\n|\r)/y) === undefined ? undefined : { start: reader.at } }
  }

  /** The objects in a stream of objects. */
  function inStream (number: number): PdfValue[] {
    const before = streams.get(number)
    if (before !== undefined) return before
    const found = find(number)
    const content = decoded(found)
    const { value } = found
    if (content === undefined || !isDictionary(value)) throw damaged('objects are in a stream that is none')
    const [count, first] = [resolve(value.get('/N')), resolve(value.get('/First'))]
    const inside = content.toString('latin1')
    const head = new PdfReader(inside, 0)
    const offsets = Array.from({ length: typeof count === 'number' ? Math.min(Math.max(count, 0), maxObjects) : 0 }, () => {
      head.value()
      return head.value()
    })
    const objects = offsets.map((offset) => new PdfReader(inside, Number(first) + Number(offset)).value())
    streams.set(number, objects)
    return objects
  }

  function decoded ({ value, stream }: Found): Buffer | undefined {
    if (stream === undefined || !isDictionary(value)) return undefined
    const length = resolve(value.get('/Length'))
    if (typeof length !== 'number' || length < 0 || stream.start + length > buffer.length) throw damaged('a stream has no length')
    const filters = listOf(resolve(value.get('/Filter')))
    const settings = listOf(resolve(value.get('/DecodeParms')))
    return filters.reduce<Buffer>((content, filter, index) => filtered(content, resolve(filter), resolve(settings[index])),
      buffer.subarray(stream.start, stream.start + length))
  }

  function filtered (content: Buffer, filter: PdfValue, settings: PdfValue): Buffer {
    if (filter !== '/FlateDecode') throw damaged(`a stream is encoded with ${typeof filter === 'string' ? filter : 'nothing known'}`)
    let plain: Buffer
    try {
      plain = inflateSync(content, { maxOutputLength: Math.max(left, 1), finishFlush: constants.Z_SYNC_FLUSH })
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== 'ERR_BUFFER_TOO_LARGE') throw damaged('a stream cannot be unpacked')
      throw new UnreadableInvoice('too_large', `The PDF unpacks to more than ${max / 1024 / 1024} MiB.`, { cause })
    }
    left -= plain.length
    if (!isDictionary(settings) || Number(settings.get('/Predictor') ?? 1) < 10) return plain
    return unpredicted(plain, Number(settings.get('/Columns') ?? 1))
  }

  const trailer = readTables(text, { entries, objectAt, decoded })
  return { trailer, resolve, content: (value) => isReference(value) ? decoded(find(value.reference)) : undefined }
}

function listOf (value: PdfValue): readonly PdfValue[] {
  return isList(value) ? value : value === null ? [] : [value]
}

type Tables = {
  entries: Map<number, Entry>
  objectAt: (at: number) => Found
  decoded: (found: Found) => Buffer | undefined
}

/** Reads the tables, from the newest to the oldest; the trailer of the newest. */
function readTables (text: string, { entries, objectAt, decoded }: Tables): Dictionary {
  const start = text.lastIndexOf('startxref')
  const [, offset] = /^startxref\s+(\d+)/.exec(text.slice(Math.max(start, 0), start + 40)) ?? []
  if (start < 0 || offset === undefined) throw damaged('it does not say where its table of objects is')
  const add = (number: number, entry: Entry | undefined): void => {
    if (entries.size >= maxObjects) throw new UnreadableInvoice('too_large', `The PDF has more than ${maxObjects} objects.`)
    if (entry !== undefined && !entries.has(number)) entries.set(number, entry)
  }
  const seen = new Set<number>()
  const open = [Number(offset)]
  let newest: Dictionary | undefined
  for (let at = open.shift(); at !== undefined; at = open.shift()) {
    if (seen.has(at) || seen.size > maxSections) continue
    seen.add(at)
    const trailer = /^\s*xref/.test(text.slice(at, at + 20)) ? readTable(text, at, add) : readStream(objectAt(at), decoded, add)
    newest ??= trailer
    for (const key of ['/XRefStm', '/Prev']) {
      const next = trailer.get(key)
      if (typeof next === 'number') open.push(next)
    }
  }
  if (newest === undefined) throw damaged('it has no table of objects')
  return newest
}

type Add = (number: number, entry: Entry | undefined) => void

function readTable (text: string, at: number, add: Add): Dictionary {
  const reader = new PdfReader(text, at)
  reader.takes('xref')
  while (!reader.takes('trailer')) {
    const head = reader.take(/(\d+)\s+(\d+)\s*/y)
    if (head === undefined) throw damaged('its table of objects cannot be read')
    for (let index = 0; index < Number(head[2]); index++) {
      const row = reader.take(/(\d{10}) (\d{5}) ([nf])\s*/y)
      if (row === undefined) throw damaged('its table of objects cannot be read')
      add(Number(head[1]) + index, row[3] === 'n' ? { at: Number(row[1]) } : undefined)
    }
  }
  const trailer = reader.value()
  if (!isDictionary(trailer)) throw damaged('its table of objects has no trailer')
  return trailer
}

/** A table that is a stream: rows of a type and two numbers, each of some bytes. */
function readStream (found: Found, decoded: Tables['decoded'], add: Add): Dictionary {
  const { value } = found
  const content = decoded(found)
  if (!isDictionary(value) || content === undefined) throw damaged('its table of objects cannot be read')
  const widths = numbersIn(value.get('/W'))
  const [one = 0, two = 0, three = 0] = widths
  if (widths.length !== 3 || widths.some((width) => width < 0 || width > 6) || one + two + three === 0) {
    throw damaged('its table of objects cannot be read')
  }
  const ranges = value.has('/Index') ? numbersIn(value.get('/Index')) : [0, Number(value.get('/Size'))]
  let at = 0
  const next = (width: number): number => {
    if (width === 0) return 0
    at += width
    return content.readUIntBE(at - width, width)
  }
  for (let range = 0; range + 1 < ranges.length; range += 2) {
    const [first = 0, count = 0] = ranges.slice(range, range + 2)
    for (let index = 0; index < count && at + one + two + three <= content.length; index++) {
      const [type, second, third] = [one === 0 ? 1 : next(one), next(two), next(three)]
      add(first + index, type === 1 ? { at: second } : type === 2 ? { stream: second, index: third } : undefined)
    }
  }
  return value
}

function numbersIn (value: PdfValue | undefined): number[] {
  return isList(value) ? value.filter((one) => typeof one === 'number') : []
}

/** Undoes the predictors of PNG (ISO 32000-2, 7.4.4.4), for samples of one byte. */
function unpredicted (packed: Buffer, columns: number): Buffer {
  if (!Number.isInteger(columns) || columns < 1 || columns > 1e6) throw damaged('a stream cannot be unpacked')
  const rows = Math.floor(packed.length / (columns + 1))
  const plain = Buffer.alloc(rows * columns)
  for (let row = 0; row < rows; row++) {
    const kind = packed[row * (columns + 1)]
    for (let column = 0; column < columns; column++) {
      const at = row * columns + column
      const left = column > 0 ? plain[at - 1] ?? 0 : 0
      const up = row > 0 ? plain[at - columns] ?? 0 : 0
      const corner = column > 0 && row > 0 ? plain[at - columns - 1] ?? 0 : 0
      plain[at] = (packed[row * (columns + 1) + 1 + column] ?? 0) + predictedBy(kind, left, up, corner)
    }
  }
  return plain
}

function predictedBy (kind: number | undefined, left: number, up: number, corner: number): number {
  if (kind === 1) return left
  if (kind === 2) return up
  if (kind === 3) return Math.floor((left + up) / 2)
  if (kind !== 4) return 0
  const [byLeft, byUp, byCorner] = [left, up, corner].map((one) => Math.abs(left + up - corner - one))
  return (byLeft ?? 0) <= (byUp ?? 0) && (byLeft ?? 0) <= (byCorner ?? 0) ? left : (byUp ?? 0) <= (byCorner ?? 0) ? up : corner
}
