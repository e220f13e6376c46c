import { boundaryOf, readForm } from '@dispatch/plugins/console'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Readable } from 'node:stream'

/** The largest file of a picture, in bytes, and of another field. */
const largestFile = 2 * 1024 * 1024
const largestField = 1024
const tooLarge = 'A picture has 2 MiB at most.'

/** The largest form with a picture, in bytes. */
export const pictureFormLimit = largestFile + 64 * 1024

const chosen = Symbol('picture')

declare module 'fastify' {
  interface FastifyRequest {
    /** The picture of a form, as a data URI. */
    [chosen]: string
  }
}

/** Lets the pages of a plugin take forms with a picture, which {@link chosenPicture} tells. */
export function takesPictures (app: FastifyInstance): void {
  app.decorateRequest(chosen, '')
  app.addContentTypeParser('multipart/form-data', takeForm)
}

/** The picture of a form, as a data URI; '' where none was chosen. */
export function chosenPicture (request: FastifyRequest): string {
  return request[chosen]
}

/** Makes of a form with a file what other forms are. What the file says of its type is not believed: its first bytes tell. */
async function takeForm (request: FastifyRequest, form: Readable): Promise<URLSearchParams> {
  const boundary = boundaryOf(request.headers['content-type']) ?? ''
  const fields = new URLSearchParams()
  for await (const { name, filename, bytes, text } of readForm(form, { boundary, max: 6, tooLarge })) {
    if (name !== 'image' || filename === undefined) {
      fields.append(name, await text(largestField))
      continue
    }
    const image = Buffer.concat(await Array.fromAsync(bytes(largestFile)))
    if (image.length > 0) request[chosen] = `data:image/${kindOf(image)};base64,${image.toString('base64')}`
  }
  return fields
}

/** What the first byte tells of a picture: any other kind is refused as one. */
function kindOf ([first]: Buffer): string {
  return first === 0x89 ? 'png' : first === 0xff ? 'jpeg' : 'other'
}
