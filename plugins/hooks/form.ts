import { DispatchError, refusal } from '@dispatch/contract'
import { Dicer } from '@fastify/busboy'
import { parse } from 'content-disposition'
import { finished, Readable } from 'node:stream'

/** A part of a form. `filename` is that of a file, `type` its content type in lower case, and `charset` that of a text. */
type Part = { name: string, filename?: string, type: string, charset: string, bytes: Readable }

/** A part whose content is asked for with the most bytes that it may have. */
export type FormPart = Omit<Part, 'bytes'> & {
  bytes: (max: number) => AsyncGenerator<Buffer, void>
  /** The text in its own character set. */
  text: (max: number) => Promise<string>
}

/** What stands between the parts of a form, and the most parts. `tooLarge` tells all limits of the form, where one is exceeded. */
export type FormLimits = { boundary: string, max: number, tooLarge: string }

/** The most fields of a part's header. */
const maxHeaderPairs = 50

/** The boundary of a form by its content type; undefined for another type. */
export function boundaryOf (contentType = ''): string | undefined {
  const { type, parameters } = parse(contentType)
  return type === 'multipart/form-data' ? parameters['boundary'] : undefined
}

/**
 * The parts of a form, in order. Each must be read before the next one is asked for; what is left of it is skipped then. Throws
 * `payload_too_large`, and `validation_error` for a form that ends too early.
 */
export async function* readForm (form: Readable, { tooLarge, ...limits }: FormLimits): AsyncGenerator<FormPart, void> {
  const exceeded = (): DispatchError => new DispatchError('payload_too_large', tooLarge)
  for await (const { bytes: whole, ...part } of readable(partsOf(form, { ...limits, exceeded }))) {
    const bytes = (max: number): AsyncGenerator<Buffer, void> => limited(readable(whole as AsyncIterable<Buffer>), { max, exceeded })
    yield {
      ...part,
      bytes,
      async text (max) {
        const decoder = decoderOf(part)
        return decoder.decode(Buffer.concat(await Array.fromAsync(bytes(max))))
      }
    }
  }
}

async function* limited (
  bytes: AsyncIterable<Buffer>,
  { max, exceeded }: { max: number, exceeded: () => Error }
): AsyncGenerator<Buffer, void> {
  let size = 0
  for await (const piece of bytes) {
    size += piece.length
    if (size > max) throw exceeded()
    yield piece
  }
}

/** Errors of the form as those of the client; errors of who reads it are not changed. */
async function* readable<Piece> (form: AsyncIterable<Piece>): AsyncGenerator<Piece, void> {
  try {
    yield* form
  } catch (cause) {
    if (cause instanceof DispatchError) throw cause
    throw refusal('validation_error', [{ path: '', code: 'unreadable', message: 'The form cannot be read to its end.' }])
  }
}

function decoderOf ({ name, charset }: Pick<Part, 'name' | 'charset'>): TextDecoder {
  try {
    return new TextDecoder(charset)
  } catch {
    throw refusal('validation_error', [{ path: `/${name}`, code: 'charset', message: 'Its character set is not known: send UTF-8.' }])
  }
}

/** The fields of a part's header, in lower case; each has one value for each time it is given. */
type Header = Readonly<Partial<Record<string, readonly string[]>>>

/**
 * The parts as they come. A file is named by `filename*` wherever it stands beside `filename` (RFC 6266, section 4.3), which readers of
 * whole forms leave out: so the header of each part is read here.
 */
async function* partsOf (
  form: Readable,
  { boundary, max, exceeded }: { boundary: string, max: number, exceeded: () => Error }
): AsyncGenerator<Part, void> {
  const parts = new Readable({ objectMode: true, read: () => undefined })
  const opened: Readable[] = []
  const dicer = new Dicer({ boundary, maxHeaderPairs })
  const stop = (error: Error): void => {
    for (const stream of [...opened, parts]) stream.destroy(error)
  }
  dicer.on('part', (bytes) => {
    if (opened.push(bytes) > max) stop(exceeded())
    // The form's own error tells more; without a listener this one would end the process.
    bytes.on('error', () => undefined)
    bytes.on('header', (header) => {
      const part = partOf(header as Header, bytes)
      if (part === undefined) bytes.resume()
      else parts.push(part)
    })
  })
  dicer.on('error', stop)
  dicer.on('finish', () => parts.push(null))
  const forget = finished(form, { writable: false }, (error) => {
    if (error) stop(error)
  })
  form.pipe(dicer)
  try {
    for await (const part of parts as AsyncIterable<Part>) {
      yield part
      part.bytes.resume()
    }
  } finally {
    forget()
    form.unpipe(dicer)
  }
}

function partOf (header: Header, bytes: Readable): Part | undefined {
  const given = headerText(header, 'content-disposition')
  const { type: disposition, parameters: { name = '', ...parameters } } = parse(given, { multipart: true })
  if (disposition !== 'form-data') return undefined
  // A part whose name cannot be read is a file all the same.
  const filename = parameters['filename'] ?? (/;\s*filename\*/i.test(given) ? '' : undefined)
  const { type, parameters: { charset = 'utf-8' } } = parse(headerText(header, 'content-type'))
  return { name, ...(filename !== undefined && { filename }), type: type === '' ? 'text/plain' : type, charset, bytes }
}

/** A field of a header. Its bytes are UTF-8; a quote in a text is `%22` there, and `\"` is what older clients write. */
function headerText (header: Header, name: string): string {
  const [value = ''] = header[name] ?? []
  return Buffer.from(value, 'latin1').toString().replaceAll('\\"', '%22')
}
