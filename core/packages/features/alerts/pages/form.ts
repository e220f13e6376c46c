import { checkField, choiceField, fill, type Html, html, linesField, optionsFor, said, textField, type Typed,
  wrongOf } from '@dispatch/plugins/console'
import { type AlertKind, alertKinds, type AlertView, factsOf, filters, numbers, serviceNames } from '../contract/alerts.ts'
import type { Words } from './words.ts'

/** The alert in a form. A number that is none is sent as it was typed: the API says what is wrong with it. */
export function alertIn (body: URLSearchParams, language: string): object {
  const text = (name: string): string => (body.get(name) ?? '').trim()
  const [format, url] = [text('format'), text('url')]
  const emails = text('emails').split(/\s+/).filter((email) => email !== '')
  return {
    name: text('name'),
    kind: text('kind'),
    ...Object.fromEntries(
      numbers.filter((name) => text(name) !== '').map((name) => [name, /^\d{1,10}$/.test(text(name)) ? Number(text(name)) : text(name)])
    ),
    ...Object.fromEntries(['service', 'provider'].filter((name) => text(name) !== '').map((name) => [name, text(name)])),
    language,
    emails,
    callback: body.get('callback') === 'true',
    chat: format === '' ? null : { format, ...url !== '' && { url } }
  }
}

/** What numbers of a new alert are, where nobody has typed. */
const usual: Readonly<Record<AlertKind, Partial<Record<typeof numbers[number], number>>>> = {
  failures: { percent: 20, least: 10, minutes: 60 },
  provider_unavailable: { least: 3, minutes: 60 },
  credits_low: {},
  callbacks_failing: { minutes: 60 },
  doubt: { minutes: 60 }
}

/** The kind of alert that a text names; failures where it names none. */
export const kindIn = (text: unknown): AlertKind => alertKinds.find((kind) => kind === text) ?? 'failures'

/** What the form of a new alert shows: it tells whoever sets it. */
export const newValues = (kind: AlertKind, email: string): URLSearchParams =>
  new URLSearchParams({ kind, emails: email, ...textsOf(usual[kind]) })

/** What the form of an alert shows. */
export function valuesOf (alert: AlertView): URLSearchParams {
  const { name, kind, service, provider, emails, callback, chat } = alert
  return new URLSearchParams(textsOf({
    name,
    kind,
    service,
    provider,
    emails: emails.join('\n'),
    callback: String(callback),
    format: chat?.format,
    ...Object.fromEntries(numbers.map((number) => [number, alert[number]]))
  }))
}

function textsOf (values: Readonly<Record<string, string | number | undefined>>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).flatMap(([name, value]) => value === undefined ? [] : [[name, String(value)]]))
}

export type Provider = { code?: string, name?: string | null }
type Shown = { values: URLSearchParams, providers: readonly Provider[], host?: string | undefined, typed?: Typed | undefined }

/** The form of an alert, with the fields of its kind. `host`: where the chat is whose address is stored. */
export function alertForm (words: Words, action: string, { values, providers, host, typed }: Shown): Html {
  const kind = kindIn(values.get('kind'))
  const { numbers: requested, filtered } = factsOf[kind]
  const field = (name: string, label: string, path = `/${name}`) => ({
    name,
    label,
    value: values.get(name) ?? '',
    wrong: wrongOf(words, typed, path)
  })
  return html`${said(words, typed, 'name', ...requested, ...filtered ? filters : [], 'emails', 'callback', 'chat')}
<form method="post" action="${action}" novalidate><input type="hidden" name="kind" value="${kind}">${
    textField({ ...field('name', words.alertName), help: words.alertNameHelp })
  }<div class="dense">${requested.map((name) => textField({ ...field(name, numberLabel(words, kind, name)), type: 'number' }))}${
    filtered ? filterFields(words, field, providers) : html``
  }</div>${linesField({ ...field('emails', words.alertEmails), help: words.alertEmailsHelp })}${
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

/** What a number means for a kind. */
export function numberLabel (words: Words, kind: AlertKind, name: typeof numbers[number]): string {
  if (name === 'least' && kind === 'provider_unavailable') return words.alert_leastCalls
  if (name === 'minutes' && (kind === 'callbacks_failing' || kind === 'doubt')) return words.alert_minutesLong
  return words[`alert_${name}`]
}

type Requested = (name: string, label: string) => { name: string, label: string, value: string, wrong: Html[] }

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
