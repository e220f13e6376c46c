import type { Json, JsonObject } from '@dispatch/common'
import { type Html, html } from '../../html.ts'
import { textField } from '../form/fields.ts'
import { type FieldSchema, isList, isObject, type SettingsForm } from '../form/schema.ts'
import { dataForm } from '../form/simple.ts'
import { fill, type Words } from '../language/language.ts'
import type { MyConfig } from '../session/api.ts'
import { consoleParts } from '../session/services.ts'
import { type Fills, partsAt, type Visit } from '../session/visit.ts'
import { ownSenderAmong, sendersIn } from './samples.ts'
import { followingForms, serviceForms } from './send-forms.ts'

type Party = JsonObject

/** What of a form is filled. */
type Fillable = {
  template: Filled | undefined
  data: JsonObject | string
  service: string
  fields: JsonObject
  following: readonly { service: string, fields: JsonObject }[]
}

/** What says which fields data have: the schema of a template, and its sample. */
type Filled = { schema: JsonObject, sample: JsonObject }

/** What data of templates call who sends a document, and to whom it goes. */
const senders = ['seller', 'sender', 'provider', 'issuer', 'company']
const receivers = ['customer', 'recipient', 'buyer', 'signer']
/** The one among these that is a person. */
const person = 'signer'
const account = 'bankDetails'

/** What a feature keeps to fill forms with. */
function fillsOf ({ parts }: Visit): Fills | undefined {
  return partsAt(parts, 'fills')[0]
}

type Own = Awaited<ReturnType<Fills['own']>>

/** Who the reader's company is, where it has said so. */
export async function readOwn (visit: Visit): Promise<Own | undefined> {
  const own = await fillsOf(visit)?.own(visit)
  return own === undefined || Object.keys(own.party).length + Object.keys(own.account).length === 0 ? undefined : own
}

/** The sample of a template with who the reader's company is, and who signs there. */
export function withOwn (template: Filled, own: Own | undefined): JsonObject {
  const { sample } = template
  if (own === undefined) return sample
  const { party, account: bank } = own
  const filled = withParty(withParty(sample, template, senders, party), template, [account], bank)
  const { contact, city } = party
  return {
    ...filled,
    ...isObject(sample['signatory']) && typeof contact === 'string' && { signatory: { name: contact } },
    ...typeof sample['place'] === 'string' && typeof city === 'string' && { place: city }
  }
}

/**
 * The fields with which the form of a service begins, for the reader's company: it sends from an address of its own, or of the reader, that
 * the provider of the service permits, or from none where nobody knows one; and who signs there signs last.
 */
export function ofOwn (
  { actor }: Pick<Visit, 'actor'>,
  { service, fields, config, own }: { service: string, fields: JsonObject, config: MyConfig, own: Own | undefined }
): JsonObject {
  const { sender } = consoleParts[service] ?? {}
  const { signers } = fields
  const { party = {} } = own ?? {}
  const email = textIn(party, 'email')
  const signs = email !== '' && textIn(party, 'contact') !== ''
  const filled: JsonObject = {
    ...fields,
    ...isList(signers) && signers.length > 1 && signs && { signers: [...signers.slice(0, -1), signerOf(party)] }
  }
  if (sender === undefined || !(sender.field in fields)) return filled
  const { [sender.field]: _sample, ...others } = filled
  const from = senderFor(permittedBy(config, { service }), email === '' ? [actor.email] : [email, actor.email])
  return from === undefined ? others : { ...others, [sender.field]: from }
}

/** The first of some addresses that may send, or another one that may; undefined where only domains are named, and none of them fits. */
function senderFor (permitted: readonly string[], addresses: readonly string[]): string | undefined {
  return permitted.length === 0 ? addresses[0] : ownSenderAmong([...permitted], addresses)
}

/** From where the settings of a provider permit to send for a service, by itself or the chosen one; none where they do not say. */
function permittedBy ({ services, company }: MyConfig, { service, provider = '' }: { service: string, provider?: string }): string[] {
  const code = provider === '' ? services[service]?.providerName : provider
  const { settings } = company.providers.find((one) => one.code === code) ?? {}
  return sendersIn(settings?.[consoleParts[service]?.sender?.setting ?? ''])
}

/** The form of a service whose field for the sender says which ones the settings of its provider permit. */
export function withSenders (
  words: Words,
  form: SettingsForm,
  { config, ...of }: { config: MyConfig, service: string, provider?: string }
): SettingsForm {
  const permitted = permittedBy(config, of)
  const name = consoleParts[of.service]?.sender?.field ?? ''
  const field = form.properties?.[name]
  if (field === undefined || permitted.length === 0) return form
  const description = fill(words.sendSenders, { senders: permitted.slice(0, shownSenders).join(', ') })
  return { ...form, properties: { ...form.properties, [name]: { ...field, 'x-texts': { [words.code]: { description } } } } }
}

/** So many of the permitted senders are named. */
const shownSenders = 5

const textIn = (party: Party, name: string): string => typeof party[name] === 'string' ? party[name] : ''

/** The person of a party, as one who signs. */
function signerOf (party: Party): { email: string, firstName: string, lastName: string } {
  const names = (textIn(party, 'contact') === '' ? textIn(party, 'name') : textIn(party, 'contact')).split(' ')
  return { email: textIn(party, 'email'), firstName: names.slice(0, -1).join(' '), lastName: names.at(-1) ?? '' }
}

/** A form with the recipient of a name, as the data and the services have one; undefined where no one or several have it. */
export async function withRecipient<Draft extends Fillable> (visit: Visit, draft: Draft, name: string): Promise<Draft | undefined> {
  const found = await fillsOf(visit)?.recipients(visit, name) ?? []
  const party = found.length === 1 ? found[0] : found.find((one) => one.name.toLowerCase() === name.toLowerCase())
  if (party === undefined) return undefined
  const { template, data, service, fields, following } = draft
  return {
    ...draft,
    data: typeof data === 'string' ? data : withParty(data, template, receivers, party),
    fields: addressedTo(fields, serviceForms[service]?.properties ?? {}, party),
    following: following.map((next) => ({
      ...next,
      fields: addressedTo(next.fields, followingForms[next.service]?.properties ?? {}, party)
    }))
  }
}

/** Data with a party at each of the places that they, or their schema, have. Nothing of who stood there before is left. */
function withParty (data: JsonObject, template: Filled | undefined, places: readonly string[], party: Party): JsonObject {
  const { properties } = template?.schema ?? {}
  const declared = isObject(properties) ? properties : {}
  const known = template === undefined ? undefined : dataForm(template.schema, template.sample)?.form.properties
  const filled = places.filter((place) => place in data || place in declared).flatMap((place): [string, Json][] => {
    const value = data[place]
    if (typeof value === 'string') return typeof party['name'] === 'string' ? [[place, party['name']]] : []
    if (Object.keys(party).length === 0) return []
    const fields = Object.keys(known?.[place]?.properties ?? {})
    const whole = place === person && textIn(party, 'contact') !== '' ? { ...party, name: party['contact'] ?? '' } : party
    // Where the schema names no fields, those that stand there are kept, and what every form has.
    return [[place, fields.length > 0 ? picked(whole, fields) : isObject(value) ? picked(whole, [...Object.keys(value), ...usual]) : whole]]
  })
  return { ...data, ...Object.fromEntries(filled) }
}

/** What a party has of these names. Where a company has a place of its own, the name is that of the person there. */
function picked (party: Party, names: readonly string[]): Party {
  const { name, contact, addressLine2 } = party
  const isApart = names.includes('company') && !names.includes('contact') && textIn(party, 'contact') !== ''
  const called = {
    ...party,
    ...addressLine2 !== undefined && { address2: addressLine2 },
    ...isApart && { company: name ?? '', name: contact ?? '' }
  }
  return Object.fromEntries(Object.entries(called).filter(([one]) => names.includes(one)))
}

/** What every form has of a party. */
const usual = ['name', 'email', 'address', 'postalCode', 'city', 'country', 'vatId', 'accountHolder', 'iban', 'account', 'bic', 'bank']

/** The fields of a service with an address to which it sends: those that it has. */
function addressedTo (fields: JsonObject, form: Readonly<Record<string, FieldSchema>>, party: Party): JsonObject {
  const [email, phone] = [textIn(party, 'email'), textIn(party, 'phone').replaceAll(/[\s().-]/g, '')]
  const { signers: signing } = fields
  const filled: JsonObject = {
    ...email !== '' && { to: [email] },
    ...phone !== '' && { phoneNumber: phone },
    recipient: { ...picked(party, Object.keys(form['recipient']?.properties ?? {})) },
    ...email !== '' && { signers: [signerOf(party), ...isList(signing) ? signing.slice(1) : []] }
  }
  return { ...fields, ...Object.fromEntries(Object.entries(filled).filter(([name]) => Object.hasOwn(form, name))) }
}

/** Where a recipient is chosen who fills the form; where none is kept yet, the way to keep them. */
export async function fillSection (visit: Visit): Promise<Html> {
  const fills = fillsOf(visit)
  if (fills === undefined) return html``
  const { words } = visit
  const known = await fills.recipients(visit, '')
  if (known.length === 0) return html`<p class="quiet">${words.fillNone} <a href="${fills.page}">${words.fillKeep}</a></p>`
  return html`<section aria-labelledby="fill"><h2 id="fill">${words.fillTitle}</h2>${
    textField({ name: ':recipient', label: words.fillRecipient, suggestions: known.map(({ name }) => ({ value: name, label: '' })) })
  }<div class="actions"><button class="second" name=":fill" value="recipient">${words.fillDo}</button></div></section>`
}
