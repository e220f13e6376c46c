import { type DocumentHandle, readMailbox } from '@dispatch/common'
import { hash, randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { domainToASCII } from 'node:url'
import type { ReadDocument } from '../documents/own-documents.ts'
import { readPieces } from '../documents/pieces.ts'
import { RequestFailure } from '../outcome/request-outcome.ts'
import type { Composed } from './mailer.ts'
import type { SmtpMessage } from './message.ts'

type Address = { name: string, address: string }

/** An e-mail whose addresses have been read: `compose` makes the same message each time, byte for byte. */
export type Letter = { messageId: string, date: string, everybody: readonly Address[], compose: () => Composed }

/** Reads the addresses of an e-mail. Throws a {@link RequestFailure} for one that is none. */
export function letterOf (message: SmtpMessage, { read, ended }: { read: ReadDocument, ended: AbortSignal }): Letter {
  const { from, replyTo, ...recipients } = addressesOf(message)
  const messageId = `<${message.id ?? randomUUID()}@${domainToASCII(from.address.replace(/^.*@/, ''))}>`
  const date = message.date ?? new Date().toISOString()
  const compose = (): Composed => ({
    messageId,
    date: new Date(date),
    // The boundary between the parts would otherwise be random, and so different in each attempt.
    baseBoundary: hash('sha256', messageId).slice(0, 32),
    from,
    ...recipients,
    replyTo,
    subject: message.subject,
    html: message.html,
    text: message.text,
    headers: { ...message.headers },
    ...(message.only === undefined ? {} : { envelope: { from: from.address, to: [...message.only] } }),
    attachments: [
      ...(message.inline ?? []).map(({ contentId, ...document }) => ({
        ...attachment(document, read),
        cid: contentId,
        contentDisposition: 'inline' as const
      })),
      ...(message.attachments ?? []).map((document) => attachment(document, read))
    ],
    signal: ended
  })
  return { messageId, date, everybody: [from, ...recipients.to, ...recipients.cc, ...recipients.bcc, ...replyTo], compose }
}

function addressesOf ({ from, to, cc = [], bcc = [], replyTo = [] }: SmtpMessage):
  & { from: Address }
  & Record<'to' | 'cc' | 'bcc' | 'replyTo', Address[]>
{
  return {
    from: mailbox(from),
    to: to.map(mailbox),
    cc: cc.map(mailbox),
    bcc: bcc.map(mailbox),
    replyTo: [replyTo].flat().map(mailbox)
  }
}

/** One address as a name and an address. It is not parsed again, so that one text never becomes two recipients. */
function mailbox (text: string): Address {
  const read = readMailbox(text)
  if (read === undefined) {
    throw new RequestFailure('refused', `"${text}" is not one e-mail address such as ada@example.com.`, { code: 'address' })
  }
  return { name: '', ...read }
}

function attachment (document: DocumentHandle, read: ReadDocument): { filename: string, contentType: string, content: Readable } {
  return {
    filename: document.filename,
    contentType: document.contentType,
    content: Readable.from(readPieces([document], read), { objectMode: false })
  }
}
