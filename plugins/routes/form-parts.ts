import { Dicer } from '@fastify/busboy'
import { parse } from 'content-disposition'
import { finished, Readable } from 'node:stream'

/** A part of a form. `filename` is that of a file, `type` its content type in lower case, and `charset` that of a text. */
export type FormPart = { name: string, filename?: string, type: string, charset: string, bytes: Readable }

/** The fields of a part's header, in lower case; each has one value for each time it is given. */
type Header = Readonly<Partial<Record<string, readonly string[]>>>

/** The boundary of a form by its content type; undefined for another type. */
export function boundaryOf (contentType = ''): string | undefined {
  const { type, parameters } = parse(contentType)
  return type === 'multipart/form-data' ? parameters['boundary'] : undefined
}

/** What stands between the parts; the most parts, and what is thrown for more. */
export type Bounds = { boundary: string, most: number, tooMany: () => Error }

/** The most fields of a part's header. */
const maxHeaderPairs = 50

/**
 * The parts of a form, in order. Each must be read before the next one is asked for; what is left of it is skipped then. Throws when the
 * form ends too early. A file is named by `filename*` wherever it stands beside `filename` (RFC 6266, section 4.3), which readers of whole
 * forms leave out: so this one reads the header of each part.
 */
export async function* partsOf (form: Readable, { boundary, most, tooMany }: Bounds): AsyncGenerator<FormPart, void> {
  const parts = new Readable({ objectMode: true, read: () => undefined })
  const opened: Readable[] = []
  const dicer = new Dicer({ boundary, maxHeaderPairs })
  const stop = (error: Error): void => {
    for (const stream of [...opened, parts]) stream.destroy(error)
  }
  dicer.on('part', (bytes) => {
    if (opened.push(bytes) > most) stop(tooMany())
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
    for await (const part of parts as AsyncIterable<FormPart>) {
      yield part
      part.bytes.resume()
    }
  } finally {
    forget()
    form.unpipe(dicer)
  }
}

function partOf (header: Header, bytes: Readable): FormPart | undefined {
  const { type: disposition, parameters: { name = '', filename } } = parse(headerText(header, 'content-disposition'), { multipart: true })
  if (disposition !== 'form-data') return undefined
  const { type, parameters: { charset = 'utf-8' } } = parse(headerText(header, 'content-type'))
  return { name, ...(filename !== undefined && { filename }), type: type === '' ? 'text/plain' : type, charset, bytes }
}

/** A field of a header. Its bytes are UTF-8; a quote in a text is `%22` there, and `\"` is what older clients write. */
function headerText (header: Header, name: string): string {
  const [value = ''] = header[name] ?? []
  return Buffer.from(value, 'latin1').toString().replaceAll('\\"', '%22')
}
