import { type JsonObject, pointer, type Problem } from '@dispatch/common'
import { refusal } from '@dispatch/contract'
import type { OwnerQueries } from '@dispatch/database'
import { type ServiceName, serviceNames, services } from '@dispatch/services'
import type { OnStatusChange, Reply } from '../store/vendor/deliveries.ts'
import { placeIn } from './places.ts'
import type { Step } from './step.ts'

/** Who gets something of a dispatch. `address`: in the one writing of its service; `path`: where the request names them. */
export type Recipient = { service: ServiceName, address: string, path: string, templateId?: number }

/** What is known of those to whom companies send. A feature brings it. */
export type RecipientBook = {
  /**
   * The problems of those to whom nothing may be sent: asked before a dispatch is recorded, and again before each call that is not made as
   * soon as it is recorded. `latest`: what has changed is asked for first. A request has asked when its head came; its body may come later.
   */
  screen: (companyId: number, recipients: readonly Recipient[], how: { latest: boolean }) => Promise<Problem[]>
  /** In the transaction in which a vendor tells what has become of a step. */
  statusChanged: OnStatusChange
  /** In the transaction in which the event is handled that has the answer of a recipient. */
  answered: (
    queries: OwnerQueries,
    companyId: number,
    recipient: Pick<Recipient, 'service' | 'address'>,
    wants: Reply['wants']
  ) => Promise<void>
  /** Where a recipient asks for no more. The same one gets the same address again. */
  unsubscribeUrl: (companyId: number, recipient: Pick<Recipient, 'service' | 'address'>) => string
}

/** The code of a problem with a recipient to whom nothing may be sent. */
export const suppressed = 'suppressed'

/** A step as it names those who get it. `at`: where a field of it stands in the request. */
type Sending = {
  service: ServiceName
  fields: JsonObject
  template?: { template: { id: number }, data?: JsonObject } | undefined
  at?: (field: string) => string
}

/** Those who get something of a step, each where its fields name them; also those whom its vendor mails by itself. */
export function recipientsIn ({ service, fields, template, at = placeIn(service) }: Sending): Recipient[] {
  const own = (services[service].recipients?.in(fields) ?? []).map((one) => ({ ...one, service }))
  const mailed = (services[service].mails?.(fields, template?.data ?? {}) ?? []).flatMap((one) => {
    const address = mailing === undefined ? undefined : services[mailing].recipients?.known(one.address)
    return mailing === undefined || address === undefined ? [] : [{ ...one, address, service: mailing }]
  })
  return [...own, ...mailed].map(({ field, index, ...recipient }) => ({
    ...recipient,
    path: index === undefined ? at(field) : pointer(at(field), index),
    ...template !== undefined && { templateId: template.template.id }
  }))
}

/** The service that sends mails. */
const mailing = serviceNames.find((name) => services[name].template?.channel === 'mail')

/** The problems of all who would get something. Without a book nobody is refused, and nobody can unsubscribe. */
export async function screenAll (
  books: readonly RecipientBook[],
  companyId: number,
  sending: readonly Sending[],
  how: { latest: boolean }
): Promise<Problem[]> {
  if (books.length === 0) return sending.flatMap(withoutBook)
  return await screen(books, companyId, sending.flatMap(recipientsIn), how)
}

function withoutBook ({ service, fields, at = placeIn(service) }: Sending): Problem[] {
  const requested = services[service].recipients?.unsubscribing
  if (requested?.of(fields) === undefined) return []
  return [{ path: at(requested.field), code: 'not_supported', message: 'Nobody can unsubscribe at this installation: leave it out.' }]
}

async function screen (
  books: readonly RecipientBook[],
  ...[companyId, recipients, how]: Parameters<RecipientBook['screen']>
): Promise<Problem[]> {
  return recipients.length === 0 ? [] : (await Promise.all(books.map((book) => book.screen(companyId, recipients, how)))).flat()
}

/** Throws `suppressed` where a recipient of a step may get nothing any more. Of one that others have got, those that are left count. */
export async function requireWelcome (books: readonly RecipientBook[], companyId: number, step: Step): Promise<void> {
  const left = step.rest?.recipients.map((address) => services[step.service].recipients?.known(address))
  const recipients = recipientsIn(step).filter(({ address }) => left?.includes(address) ?? true)
  const problems = await screen(books, companyId, recipients, { latest: true })
  if (problems.length > 0) throw refusal(suppressed, problems)
}
