import type { JsonObject } from '@dispatch/common'
import type { Findings } from './service.ts'

/** The token in a client's text that is replaced by the link to the chain's document. */
export const linkToken = '{{ generatedDocument.url }}'

/** Whether one of the texts has the link token. */
export function isLinked (fields: JsonObject): boolean {
  return Object.values(fields).some((text) => typeof text === 'string' && text.includes(linkToken))
}

/** A client's text with each token replaced by the link. Nothing else in it is evaluated. */
export function withLink (text: string, url: string | undefined): string {
  return url === undefined ? text : text.split(linkToken).join(url)
}

/** Checks a client's text at a path: a token needs a document to link to, and other expressions have no effect. */
export function checkLink (text: string, path: string, link: string | undefined): Findings {
  const [rest, isLinked] = [text.replaceAll(linkToken, ''), text.includes(linkToken)]
  return {
    problems: isLinked && link === undefined ?
      [{
        path,
        code: 'no_document',
        message: `There is no document to which ${linkToken} could link: chain this service after one that generates it, as POST ` +
          '/api/file/email and POST /api/file/sms do.'
      }] :
      [],
    warnings: /\{\{|\{%/.test(rest)
      ? [{
        path,
        code: 'static_text',
        message: `A text is sent unchanged: the only expression that is replaced is ${linkToken}, exactly as written here.`
      }]
      : []
  }
}
