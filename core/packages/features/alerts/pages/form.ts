import { checkField, choiceField, fill, type Html, html, linesField, optionsFor, said, textField, type Typed,
  wrongOf } from '@dispatch/plugins/console'
import { type AlertKind, alertKinds, type AlertView, factsOf, filters, numbers, serviceNames } from '../contract/alerts.ts'
import type { Words } from './words.ts'

/** A field of a kind: the form has those of every kind, and what is typed for one stays when another is chosen. */
const ofKind = (kind: string, name: string): string => `${kind}.${name}`

/** The alert in a form. A number that is none is sent as it was typed: the API says what is wrong with it. */
export function alertIn (body: URLSearchParams, language: string): object {
  const text = (name: string): string => (body.get(name) ?? '').trim()
  const [kind, format, url] = [text('kind'), text('format'), text('url')]
  const own = (name: string): string => text(ofKind(kind, name))
  const emails = text('emails').split(/\s+/).filter((email) => email !== '')
  return {
    name: text('name'),
    kind,
    ...Object.fromEntries(
      numbers.filter((name) => own(name) !== '').map((name) => [name, /^\d{1,10}$/.test(own(name)) ? Number(own(name)) : own(name)])
    ),
    ...Object.fromEntries(filters.filter((name) => own(name) !== '').map((name) => [name, own(name)])),
    language,
    emails,
    callback: body.get('callback') === 'true',
    chat: format === '' ? null : { format, ...url !== '' && { url } }
  }
}

/** The numbers of a kind before somebody has typed others. */
const usual: Readonly<Record<AlertKind, Partial<Record<typeof numbers[number], number>>>> = {
  failures: { percent: 20, least: 10, minutes: 60 },
  provider_unavailable: { least: 3, minutes: 60 },
  credits_low: {},
  callbacks_failing: { minutes: 60 },
  doubt: { minutes: 60 }
}

const usualValues: Readonly<Record<string, string>> = Object.fromEntries(
  alertKinds.flatMap((kind) => Object.entries(valuesIn(kind, usual[kind])))
)

/** The form of a new alert: it notifies the user who creates it. */
export const newValues = (email: string): URLSearchParams => new URLSearchParams({ kind: 'failures', emails: email, ...usualValues })

/** The values of the form of an alert. */
export function valuesOf (alert: AlertView): URLSearchParams {
  const { name, kind, service, provider, emails, callback, chat } = alert
  const { percent, least, minutes, credits } = alert
  return new URLSearchParams({
    ...usualValues,
    ...valuesIn(kind, { percent, least, minutes, credits, service, provider }),
    name,
    kind,
    emails: emails.join('\n'),
    callback: String(callback),
    format: chat?.format ?? ''
  })
}

function valuesIn (kind: AlertKind, values: Readonly<Record<string, string | number | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => value === undefined ? [] : [[ofKind(kind, name), String(value)]])
  )
}

export type Provider = { code?: string, name?: string | null }
type Shown = { values: URLSearchParams, providers: readonly Provider[], host?: string | undefined, typed?: Typed | undefined }

/** The form of an alert, with the fields of each kind, of which those of the chosen one are seen. `host`: where its stored chat is. */
export function alertForm (words: Words, action: string, { values, providers, host, typed }: Shown): Html {
  const chosen = alertKinds.find((kind) => kind === values.get('kind')) ?? 'failures'
  const { numbers: requested, filtered } = factsOf[chosen]
  const field = (name: string, label: string, path = `/${name}`) => ({
    name,
    label,
    value: values.get(name) ?? '',
    wrong: wrongOf(words, typed, path)
  })
  const fieldIn = (kind: AlertKind): Requested => (name, label) => ({
    ...field(ofKind(kind, name), label),
    wrong: kind === chosen ? wrongOf(words, typed, `/${name}`) : []
  })
  return html`${said(words, typed, 'name', ...requested, ...filtered ? filters : [], 'emails', 'callback', 'chat')}
<form method="post" action="${action}" novalidate>${
    textField({ ...field('name', words.alertName), help: words.alertNameHelp })
  }<fieldset><legend>${words.alertKind}</legend>${
    alertKinds.map((kind) =>
      html`<div class="choice"><input type="radio" id="f-kind-${kind}" name="kind" value="${kind}"${
        kind === chosen ? html` checked` : html``
      }><label for="f-kind-${kind}">${words[`alertKind_${kind}`]}</label></div>
<div class="dense if-chosen">${kindFields(words, kind, fieldIn(kind), providers)}</div>`
    )
  }</fieldset>${linesField({ ...field('emails', words.alertEmails), help: words.alertEmailsHelp })}${
    checkField({
      ...field('callback', words.alertCallback),
      help: words.alertCallbackHelp,
      checked: values.get('callback') === 'true'
    })
  }${
    choiceField({
      ...field('format', words.alertChat, '/chat/format'),
      options: (['slack', 'teams'] as const).map((value) => ({ value, label: words[`alertChat_${value}`] })),
      none: words.alertChat_none
    })
  }${
    textField({
      ...field('url', words.alertChatUrl, '/chat/url'),
      // What is secret is not written into a page.
      value: '',
      help: host === undefined ? words.alertChatUrlHelp : fill(words.alertChatStored, { host }),
      type: 'url'
    })
  }<div class="actions"><button>${words.alertSave}</button></div></form>`
}

/** The meaning of a number, by kind. */
export function numberLabel (words: Words, kind: AlertKind, name: typeof numbers[number]): string {
  if (name === 'least' && kind === 'provider_unavailable') return words.alert_leastCalls
  if (name === 'minutes' && (kind === 'callbacks_failing' || kind === 'doubt')) return words.alert_minutesLong
  return words[`alert_${name}`]
}

type Requested = (name: string, label: string) => { name: string, label: string, value: string, wrong: Html[] }

function kindFields (words: Words, kind: AlertKind, field: Requested, providers: readonly Provider[]): Html {
  const { numbers: requested, filtered } = factsOf[kind]
  return html`${requested.map((name) => textField({ ...field(name, numberLabel(words, kind, name)), type: 'number' }))}${
    filtered ? filterFields(words, field, providers) : html``
  }`
}

function filterFields (words: Words, field: Requested, providers: readonly Provider[]): Html {
  const provider = field('provider', words.alertProvider)
  const known = providers.flatMap(({ code, name }) => code === undefined ? [] : [{ value: code, label: name ?? code }])
    .sort((a, b) => a.label.localeCompare(b.label))
  // One that was removed since stays what is looked at.
  const gone = provider.value === '' || known.some(({ value }) => value === provider.value)
    ? []
    : [{ value: provider.value, label: provider.value }]
  return html`${
    choiceField({ ...field('service', words.alertService), options: optionsFor(words, 'service', serviceNames), none: words.alertAny })
  }${choiceField({ ...provider, options: [...known, ...gone], none: words.alertAny })}`
}
