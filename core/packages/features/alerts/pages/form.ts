import { checkField, choiceField, fill, type Html, html, linesField, optionsFor, said, textField, type Typed,
  wrongOf } from '@dispatch/plugins/console'
import { alertKinds, type AlertView, numbers, serviceNames } from '../contract/alerts.ts'
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

/** What the form of an alert shows where nobody has typed. */
function valuesOf (alert: AlertView | undefined): URLSearchParams {
  if (alert === undefined) return new URLSearchParams({ percent: '20', least: '10', minutes: '60' })
  const { name, kind, service, provider, emails, callback, chat } = alert
  const all: Readonly<Record<string, string | number | undefined>> = {
    name,
    kind,
    service,
    provider,
    emails: emails.join('\n'),
    callback: String(callback),
    format: chat?.format,
    ...Object.fromEntries(numbers.map((number) => [number, alert[number]]))
  }
  return new URLSearchParams(
    Object.entries(all).flatMap(([field, value]) => value === undefined ? [] : [[field, String(value)] as [string, string]])
  )
}

/** The form of an alert; `alert`: the one that is changed. */
export function alertForm (words: Words, action: string, { alert, typed }: { alert?: AlertView, typed?: Typed | undefined }): Html {
  const values = typed?.body ?? valuesOf(alert)
  const field = (name: string, label: string, path = `/${name}`) => ({
    name,
    label,
    value: values.get(name) ?? '',
    wrong: wrongOf(words, typed, path)
  })
  const stored = alert?.chat === null || alert === undefined ? undefined : fill(words.alertChatStored, { host: alert.chat.host })
  return html`${said(words, typed, 'name', 'kind', ...numbers, 'service', 'provider', 'emails', 'callback', 'chat')}
<form method="post" action="${action}" novalidate>${textField({ ...field('name', words.alertName), help: words.alertNameHelp })}${
    choiceField({
      ...field('kind', words.alertKind),
      options: alertKinds.map((value) => ({ value, label: words[`alertKind_${value}`] }))
    })
  }${numbers.map((name) => textField({ ...field(name, words[`alert_${name}`]), help: words[`alert_${name}Help`], type: 'number' }))}${
    choiceField({ ...field('service', words.alertService), options: optionsFor(words, 'service', serviceNames), none: words.alertAny })
  }${textField({ ...field('provider', words.alertProvider), note: words.alertAny })}${
    linesField({ ...field('emails', words.alertEmails), help: words.alertEmailsHelp })
  }${
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
      help: stored ?? words.alertChatUrlHelp,
      type: 'url'
    })
  }<div class="actions"><button>${words.alertSave}</button></div></form>`
}
