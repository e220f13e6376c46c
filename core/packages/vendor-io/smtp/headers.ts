import { RequestFailure } from '../outcome/request-outcome.ts'
import type { SmtpMessage } from './message.ts'

/** A line break in a header would begin another header, or the body. */
const lineBreak = /[\r\n\0]/
const headerName = /^[!-9;-~]+$/

/** Throws a {@link RequestFailure} when a text of a header contains a line break. */
export function checkHeaders ({ from, to, cc = [], bcc = [], replyTo = [], subject, inline = [], headers = {} }: SmtpMessage): void {
  const texts = {
    from,
    to: to.join(),
    cc: cc.join(),
    bcc: bcc.join(),
    replyTo: [replyTo].flat().join(),
    subject,
    'Content-ID': inline.map(({ contentId }) => contentId).join(),
    ...headers
  }
  for (const [name, text] of Object.entries(texts)) {
    if (lineBreak.test(text) || !headerName.test(name)) {
      throw new RequestFailure('refused',
        `The e-mail's "${name.replaceAll(/[^ -~]/g, '?')}" has a line break or another character that a header must not contain.`, {
        code: 'header'
      })
    }
  }
}
