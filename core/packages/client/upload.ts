/** A file to send. A stream is sent once; a function that opens it anew lets the client try again. */
export type FileSource = Blob | Uint8Array | AsyncIterable<Uint8Array> | (() => AsyncIterable<Uint8Array>)

/** A file with the fields beside it: those of `upload`, and `common` and `mapping` of a batch. */
export type Upload = {
  file: FileSource
  filename: string
  contentType?: string
  common?: Readonly<Record<string, unknown>>
  mapping?: Readonly<Record<string, unknown>>
  metadata?: Readonly<Record<string, string>>
  providerName?: string
  callbackUrl?: string
  settings?: Readonly<Record<string, unknown>>
}

/** How much of a file has left; `total` is undefined for a stream. */
export type Progress = (progress: { sent: number, total: number | undefined }) => void

/** A form as the body of a request, which `open` begins anew; `onPart` is told of each part. `spent`: it cannot be sent again. */
export type Form = { contentType: string, open: (onPart: () => void) => ReadableStream<Uint8Array>, spent: () => boolean }

export function formOf ({ file, filename, contentType = 'application/octet-stream', ...fields }: Upload, progress?: Progress): Form {
  const boundary = `dispatch-${crypto.randomUUID()}`
  let begun = false
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    // A stream that somebody has begun to read cannot be read again.
    spent: () => begun && isStream(file),
    open: (onPart) => {
      const parts = formParts({ file, filename, contentType, fields }, boundary, progress)
      return new ReadableStream<Uint8Array>({
        async pull (controller) {
          begun = true
          onPart()
          const { done, value } = await parts.next()
          if (done === true) controller.close()
          else controller.enqueue(value)
        },
        async cancel () {
          await parts.return(undefined)
        }
      }, { highWaterMark: 0 })
    }
  }
}

type Parts = { file: FileSource, filename: string, contentType: string, fields: Readonly<Record<string, unknown>> }

async function* formParts (
  { file, filename, contentType, fields }: Parts,
  boundary: string,
  progress: Progress | undefined
): AsyncGenerator<Uint8Array, undefined> {
  const encoder = new TextEncoder()
  const head = (name: string, more: string): Uint8Array =>
    encoder.encode(`--${boundary}\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n`)
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) continue
    yield head(name, '')
    yield encoder.encode(`${typeof value === 'string' ? value : JSON.stringify(value)}\r\n`)
  }
  const escaped = filename.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
  yield head('file', `; filename="${escaped}"\r\nContent-Type: ${contentType}`)
  const total = file instanceof Blob ? file.size : file instanceof Uint8Array ? file.byteLength : undefined
  let sent = 0
  for await (const chunk of chunksOf(file)) {
    yield chunk
    sent += chunk.byteLength
    progress?.({ sent, total })
  }
  yield encoder.encode(`\r\n--${boundary}--\r\n`)
  return undefined
}

function isStream (file: FileSource): file is AsyncIterable<Uint8Array> {
  return !(file instanceof Blob || file instanceof Uint8Array || typeof file === 'function')
}

const chunkLength = 64 * 1024

async function* chunksOf (file: FileSource): AsyncGenerator<Uint8Array> {
  if (typeof file === 'function') yield* file()
  else if (isStream(file)) yield* file
  else {
    const length = file instanceof Blob ? file.size : file.byteLength
    for (let start = 0; start < length; start += chunkLength) {
      const chunk = file.slice(start, start + chunkLength)
      yield chunk instanceof Blob ? new Uint8Array(await chunk.arrayBuffer()) : chunk
    }
  }
}
