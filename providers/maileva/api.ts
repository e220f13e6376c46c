import { asciiMailbox, failureOf, type Found, type Http, type HttpCall, refused, type ServiceContracts, shortened, type Static,
  Type } from '@dispatch/core/provider'
import { hash } from 'node:crypto'
import { fieldsOf, linesOf } from './address.ts'
import type { Call } from './settings.ts'

export type Request = ServiceContracts['postal']['dispatch']
export type Product = typeof products[keyof typeof products]

/** Maileva's APIs of letters. They are similar, but each has its own sendings. */
export const products = { SIMPLE: 'mail/v2', REGISTERED: 'registered_mail/v4' } as const

export const Sendings = Type.Object({ sendings: Type.Array(Type.Unknown()) })
export const Sending = Type.Object({ id: Type.String({ minLength: 1 }), status: Type.String({ minLength: 1 }) })

/** The most characters of a `custom_id`. */
const longestCustomId = 32

/** The address and the sign-in of a call; `path` is added after `/sendings`. */
export function ask (
  { sandbox, settings }: Pick<Call, 'sandbox' | 'settings'>,
  product: Product,
  path = '',
  body: HttpCall = {}
): [url: string, call: HttpCall] {
  const { clientId, clientSecret, username, password } = settings
  const domain = sandbox ? 'sandbox.maileva.net' : 'maileva.com'
  const tokenUrl = `https://connexion.${domain}/auth/realms/services/protocol/openid-connect/token`
  const oauth2 = { grant: 'password', tokenUrl, username, password, clientId, clientSecret, clientAuth: 'body' } as const
  return [`https://api.${domain}/${product}/sendings${path}`, { oauth2, ...body }]
}

export function pathOf (id: string): string {
  return `/${encodeURIComponent(id)}`
}

/** Makes a complete draft with its document and recipient. Nothing is printed before it is submitted. */
export async function prepare ({ postal: { recipient, mailType, color, duplex }, document }: Request, call: Call): Promise<string> {
  const product = products[mailType]
  const customId = customIdOf(call.reference)
  const address = { ...fieldsOf(linesOf(recipient)), country_code: recipient.country, custom_id: customId }
  const { addressSheet = true } = call.settings
  const options = {
    name: shortened(document.filename, 256),
    custom_id: customId,
    color_printing: color,
    duplex_printing: duplex,
    optional_address_sheet: addressSheet,
    ...optionsOf(mailType, call)
  }
  const { id } = await call.http.post(...ask(call, product, '', { json: options }), Sending)
  call.onRefusal((http) => withdraw(id, product, call, http))
  const metadata = { json: { priority: 1, name: document.filename } }
  await call.http.post(...ask(call, product, `${pathOf(id)}/documents`, { multipart: { document, metadata } }), Type.Unknown())
  await call.http.post(...ask(call, product, `${pathOf(id)}/recipients`, { json: address }), Type.Unknown())
  return id
}

/** Deletes a draft. */
export async function withdraw (id: string, product: Product, call: Call, http: Http): Promise<void> {
  await http.delete(...ask(call, product, pathOf(id)), Type.Unknown())
}

type Options = Record<string, string | boolean | string[]>
type Configured = { settings: Partial<Call['settings']> }

/** The additional fields of each kind of letter. Refuses settings that contradict each other or lack a required sender. */
export function optionsOf (mailType: keyof typeof products, configured: Configured): Options {
  return mailType === 'REGISTERED' ? registered(configured) : simple(configured)
}

function simple ({ settings }: Configured): Options {
  const { postageType = 'ECONOMIC', printSender = false, undeliveredMail } = settings
  if (printSender && undeliveredMail !== undefined) {
    const message =
      'Maileva prints no sender on simple letters whose returns it handles: leave "printSender" or "undeliveredMail" out of the ' +
      'configuration.'
    throw refused('printed_sender', message, '/postal/mailType')
  }
  return {
    postage_type: postageType,
    ...(printSender &&
      { print_sender_address: true, envelope_windows_type: 'DOUBLE', ...senderOf(settings, 'A letter with a printed sender') }),
    ...(undeliveredMail !== undefined &&
      { treat_undelivered_mail: true, notification_treat_undelivered_mail: [asciiMailbox(undeliveredMail)] })
  }
}

function registered ({ settings }: Configured): Options {
  const { acknowledgement = true, printSender = false, undeliveredMail } = settings
  return {
    acknowledgement_of_receipt: acknowledgement,
    ...senderOf(settings, 'A registered letter'),
    ...(printSender && { print_sender_address: true }),
    ...(undeliveredMail !== undefined && { returned_mail_scanning: true })
  }
}

function senderOf (
  { senderName, senderDetails, senderStreet, senderCity, senderCountry = 'FR' }: Configured['settings'],
  what: string
): Record<string, string> {
  if (senderName === undefined || senderStreet === undefined || senderCity === undefined) {
    throw refused('no_sender', `${what} needs a sender: set senderName, senderStreet and senderCity in the configuration.`,
      '/postal/mailType')
  }
  const lines = { 1: senderName, ...(senderDetails !== undefined && { 2: senderDetails }), 4: senderStreet, 6: senderCity }
  return { ...fieldsOf(lines, 'sender_'), sender_country_code: senderCountry }
}

/** Our reference, shortened to Maileva's limit. The same reference always gives the same text. */
function customIdOf (reference: string): string {
  const short = reference.replaceAll('-', '')
  return short.length <= longestCustomId ? short : hash('sha256', reference).slice(0, longestCustomId)
}

/** A sending of either product: its id does not tell the product. */
export async function read (id: string, call: Call): Promise<Static<typeof Sending> & { product: Product }> {
  const readOf = async (product: Product) => ({ product, ...await call.http.get(...ask(call, product, pathOf(id)), Sending) })
  try {
    return await readOf(products.SIMPLE)
  } catch (error) {
    if (failureOf(error)?.status === 404) return await readOf(products.REGISTERED)
    throw error
  }
}

/** The state of a draft. */
export async function find (draft: string, call: Call): Promise<Found> {
  const { id, status } = await read(draft, call)
  if (status === 'DRAFT') return { found: 'draft' }
  return status === 'REJECTED'
    ? { found: 'rejected', code: status, message: 'Maileva has rejected the sending.' }
    : { found: 'accepted', response: { id, status } }
}
