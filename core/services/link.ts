import type { JsonObject } from '@dispatch/common'
import type { Findings } from './service.ts'

/** What a client writes into a text where the link to the document of the chain shall stand. */
export const linkToken = '{{ generatedDocument.url }}'

/** Whether a text of the fields asks for the link. */
export function isLinked (fields: JsonObject): boolean {
  return Object.values(fields).some((text) => typeof text === 'string' && text.includes(linkToken))
}

/** A client's text with the link in place of each token. Nothing else in it is evaluated. */
export function withLink (text: string, url: string | undefined): string {
  return url === undefined ? text : text.split(linkToken).join(url)
}

/** A client's text, which stands at the path: a token needs a document to link to, and no other expression does anything. */
export function checkLink (text: string, path: string, link: string | undefined): Findings {
  const [rest, isLinked] = [text.replaceAll(linkToken, ''), text.includes(linkToken)]
  return {
    problems: isLinked && link === undefined ?
      [{
        path,
        code: 'no_document',
        message: `There is no document here that ${linkToken} could link to: chain this service behind one that makes it, as POST ` +
          '/api/file/email and POST /api/file/sms do.'
      }] :
      [],
    warnings: /\{\{|\{%/.test(rest)
      ? [{
        path,
        code: 'static_text',
        message: `A text is sent as it is: of all expressions only ${linkToken}, written exactly so, is replaced.`
      }]
      : []
  }
}
