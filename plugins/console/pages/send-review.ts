import type { Json, JsonObject } from '@dispatch/common'
import { type Html, html } from '../../html.ts'
import { isList, isObject } from '../form/schema.ts'
import { creditsOf, fieldWords, fill, wordFor, type Words } from '../language/language.ts'
import type { ValidationResponse } from '../session/api.ts'
import { simulator } from '../session/services.ts'
import { badge, facts, notice, table, time } from './layout.ts'
import { nameOf } from './provider-names.ts'
import type { Draft } from './send-draft.ts'
import { beginningOf, followingOf } from './send-forms.ts'

/** A value that is still that of the sample. `field`: the id of its field in the form. */
export type Untouched = { field: string, label: string, value: string }

/** What says for whom a document is, or which one it is: no two have it alike. Who sends it may well stand in a sample as it is. */
const telling: ReadonlySet<string> = new Set(['number', 'name', 'email', 'phone', 'phoneNumber', 'to'])
const ownParts: ReadonlySet<string> = new Set(['seller', 'sender', 'from', 'issuer', 'company', 'bank', 'lines', 'items'])

/** The values of a form that are as its samples have them. */
export function untouchedIn (words: Words, { template, data, service, fields, following }: Draft): Untouched[] {
  const called = (name: string): string => fieldWords(words, name).title ?? name
  const ofData = (name: string): string => wordFor(words, 'data', name)
  return [
    ...typeof data === 'string' ? [] : alike(data, template?.sample ?? {}, { at: 'f-data.', called: ofData }),
    ...alike(fields, beginningOf(service, undefined), { at: 'f-request.', called }),
    ...following.flatMap((next) => alike(next.fields, followingOf(next.service), { at: `f-then.${next.service}.`, called }))
  ]
}

type Place = { at: string, called: (name: string) => string }

function alike (values: JsonObject, sample: JsonObject, { at, called }: Place): Untouched[] {
  return Object.entries(sample).flatMap(([name, begun]) => {
    const value = values[name]
    if (ownParts.has(name) || value === undefined) return []
    const place = { at: `${at}${name}.`, called }
    if (isObject(value) && isObject(begun)) return alike(value, begun, place)
    if (isList(value) && isList(begun) && begun.some(isObject)) {
      return value.flatMap((row, index) => {
        const old = begun[index]
        return isObject(row) && isObject(old) ? alike(row, old, { at: `${place.at}${String(index)}.`, called }) : []
      })
    }
    const text = textOf(value)
    return telling.has(name) && text !== '' && text === textOf(begun) ? [{ field: `${at}${name}`, label: called(name), value: text }] : []
  })
}

function textOf (value: Json): string {
  return isList(value) ? value.map(textOf).join(', ') : typeof value === 'string' ? value : JSON.stringify(value)
}

/** Whether a vendor would do any of it for real. */
export function isReal ({ plan }: Pick<ValidationResponse, 'plan'>): boolean {
  return plan.some(({ providerName, sandbox }) => providerName !== undefined && sandbox !== true && providerName !== simulator)
}

/** What a dispatch will do: when, to whom, by which provider and why, for how much, in earnest or as a test; and what is still a sample. */
export function review (
  words: Words,
  { plan, recipient, approval, sendAt }: Pick<ValidationResponse, 'plan' | 'recipient' | 'approval' | 'sendAt'>,
  draft: Draft
): Html {
  const rows = plan.map(({ service, providerName, chosenBy, sandbox, credits }) =>
    html`<tr><th scope="row">${wordFor(words, 'service', service)}</th><td>${
      providerName === undefined ? words.noProvider : nameOf(draft.providers, providerName)
    }${chosenBy === undefined ? html`` : html` <span class="quiet">${words[`chosen_${chosenBy}`]}</span>`}</td><td>${
      creditsOf(words, credits)
    }</td><td>${
      sandbox === true || providerName === simulator ? badge(words, 'earnest', 'test') : badge(words, 'earnest', 'real')
    }</td></tr>\n`
  )
  const head = [words.service, words.provider, words.price, words.earnest]
  const at = sendAt === undefined ? undefined : time(sendAt)
  return html`${facts([[words.recipient, recipient], [words.document, givenIn(draft)], [words.sentAt, at]])}${
    table(words.reviewTitle, head, rows)
  }${approval === undefined ? html`` : notice('warn', html`<p>${fill(words.reviewApproval, { rules: approval.rules.join(', ') })}</p>`)}${
    samplesSaid(words, untouchedIn(words, draft))
  }`
}

/** The document that is sent in place of one of a template: the name of a file, the id of a document. */
function givenIn ({ template, document: { fileId, documentId }, files }: Draft): string | undefined {
  if (template !== undefined) return undefined
  const id = fileId ?? documentId
  return typeof id === 'string' ? files.find((file) => file.id === id)?.filename ?? id : undefined
}

function samplesSaid (words: Words, all: readonly Untouched[]): Html {
  return all.length === 0 ? html`` : html`<p>${words.reviewSamples}</p>${listOf(all)}`
}

/** Each value that is still a sample, with a link to its field. */
function listOf (all: readonly Untouched[]): Html {
  return html`<ul>${all.map(({ field, label, value }) => html`<li><a href="#${field}">${label}</a> ${value}</li>`)}</ul>`
}

/** Why a form with samples is not sent. */
export function samplesRefused (words: Words, all: readonly Untouched[]): Html {
  return html`<p>${words.samplesRefused}</p>${listOf(all)}`
}
