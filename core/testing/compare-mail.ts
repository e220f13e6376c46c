import type { ExpectedMail } from './fixture.ts'
import { differs, type Filling } from './compare.ts'
import type { ReceivedMail } from './mail-server.ts'

/** How what a mail server got differs from the one message that was expected: a sentence for each difference. */
export function compareMail (expected: ExpectedMail, received: readonly ReceivedMail[], filling: Filling): string[] {
  const [mail, ...more] = received
  if (mail === undefined) return ['No e-mail was sent.']
  const source = mail.source.replaceAll(/\r\n[ \t]+/g, ' ')
  const header = (name: string): string | undefined => new RegExp(`^${RegExp.escape(name)}: *(.*?)\r?$`, 'im').exec(source)?.[1]
  const missing = (expected.contains ?? []).filter((text) => !mail.source.replaceAll('\r\n', '\n').includes(text))
  const lost = (expected.documents ?? []).filter((pointer) => !carries(mail.source, filling.documents.get(pointer)))
  return [
    ...more.length > 0 ? [`${received.length} e-mails were sent instead of one.`] : [],
    ...differs('sender', expected.from, mail.from),
    ...differs('recipients', expected.to, mail.to),
    ...expected.user === undefined ? [] : differs('user', expected.user, mail.user),
    ...expected.password === undefined ? [] : differs('password', expected.password, mail.password),
    ...Object.entries(expected.headers ?? {}).flatMap(([name, value]) => differs(`header "${name}"`, value, header(name))),
    ...missing.map((text) => `The message does not have ${JSON.stringify(text)} in it.`),
    ...lost.map((pointer) => `The message does not have the document at "${pointer}" attached.`)
  ]
}

/** Whether a message has a document in it, in base64. */
function carries (source: string, document: Buffer | undefined): boolean {
  return document !== undefined && source.replaceAll(/\r?\n/g, '').includes(document.toString('base64'))
}
