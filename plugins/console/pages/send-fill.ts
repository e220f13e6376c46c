import type { Json, JsonObject } from '@dispatch/common'
import { type Html, html } from '../../html.ts'
import { textField } from '../form/fields.ts'
import { type FieldSchema, isList, isObject } from '../form/schema.ts'
import { type Fills, partsAt, type Visit } from '../session/visit.ts'
import { followingForms, serviceForms } from './send-forms.ts'

type Party = JsonObject

/** What of a form is filled. */
type Fillable = {
  template: { schema: JsonObject } | undefined
  data: JsonObject | string
  service: string
  fields: JsonObject
  following: readonly { service: string, fields: JsonObject }[]
}

/** What data of templates call who sends a document, and to whom it goes. */
const senders = ['seller', 'sender', 'provider', 'issuer', 'company']
const receivers = ['customer', 'recipient', 'buyer', 'signer']
const account = 'bankDetails'

/** What a feature keeps to fill forms with. */
function fillsOf ({ parts }: Visit): Fills | undefined {
  return partsAt(parts, 'fills')[0]
}

/** The sample of a template with who the reader's company is, where it has said so. */
export async function withOwn (visit: Visit, { sample, schema }: { sample: JsonObject, schema: JsonObject }): Promise<JsonObject> {
  const own = await fillsOf(visit)?.own(visit)
  if (own === undefined || Object.keys(own.party).length + Object.keys(own.account).length === 0) return sample
  return withParty(withParty(sample, schema, senders, own.party), schema, [account], own.account)
}

/** A form with the recipient of a name, as the data and the services have one; undefined where no one or several have it. */
export async function withRecipient<Draft extends Fillable> (visit: Visit, draft: Draft, name: string): Promise<Draft | undefined> {
  const found = await fillsOf(visit)?.recipients(visit, name) ?? []
  const party = found.length === 1 ? found[0] : found.find((one) => one.name.toLowerCase() === name.toLowerCase())
  if (party === undefined) return undefined
  const { template, data, service, fields, following } = draft
  return {
    ...draft,
    data: typeof data === 'string' ? data : withParty(data, template?.schema ?? {}, receivers, party),
    fields: addressedTo(fields, serviceForms[service]?.properties ?? {}, party),
    following: following.map((next) => ({
      ...next,
      fields: addressedTo(next.fields, followingForms[next.service]?.properties ?? {}, party)
    }))
  }
}

/** Data with a party at each of the places that they, or their schema, have. Nothing of who stood there before is left. */
function withParty (data: JsonObject, schema: JsonObject, places: readonly string[], party: Party): JsonObject {
  const { properties } = schema
  const declared = isObject(properties) ? properties : {}
  const filled = places.filter((place) => place in data || place in declared).flatMap((place): [string, Json][] => {
    const value = data[place]
    if (typeof value === 'string') return typeof party['name'] === 'string' ? [[place, party['name']]] : []
    return Object.keys(party).length === 0 ? [] : [[place, isObject(value) ? picked(party, Object.keys(value)) : party]]
  })
  return { ...data, ...Object.fromEntries(filled) }
}

/** What a party has of these names, and what every form has of a party. */
function picked (party: Party, names: readonly string[]): Party {
  return Object.fromEntries(Object.entries(party).filter(([name]) => names.includes(name) || usual.has(name)))
}

const usual: ReadonlySet<string> = new Set(['name', 'email', 'address', 'postalCode', 'city', 'country', 'vatId', 'accountHolder', 'iban',
  'account', 'bic', 'bank'])

/** The fields of a service with an address to which it sends: those that it has. */
function addressedTo (fields: JsonObject, form: Readonly<Record<string, FieldSchema>>, party: Party): JsonObject {
  const textOf = (name: string): string => typeof party[name] === 'string' ? party[name] : ''
  const phone = textOf('phone').replaceAll(/[\s().-]/g, '')
  const { signers: signing } = fields
  const names = (textOf('contact') === '' ? textOf('name') : textOf('contact')).split(' ')
  const signer = { email: textOf('email'), firstName: names.slice(0, -1).join(' '), lastName: names.at(-1) ?? '' }
  const filled: JsonObject = {
    ...textOf('email') !== '' && { to: [textOf('email')] },
    ...phone !== '' && { phoneNumber: phone },
    recipient: { ...picked(party, Object.keys(form['recipient']?.properties ?? {})) },
    ...textOf('email') !== '' && { signers: [signer, ...isList(signing) ? signing.slice(1) : []] }
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
