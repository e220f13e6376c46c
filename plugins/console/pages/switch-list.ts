import type { FastifyPluginCallback, FastifyReply } from 'fastify'
import { type Html, html } from '../../html.ts'
import { checkField, choiceField, textField } from '../form/fields.ts'
import { fill, wordFor, type Words } from '../language/language.ts'
import { type ListedProvider, withQuery } from '../session/api.ts'
import { type Visit, visitOf } from '../session/visit.ts'
import { notice, page, sentences, table } from './layout.ts'
import { nameOf } from './provider-names.ts'
import { environmentOf, type Known, readKnown, settingsOf } from './switch-known.ts'
import { errorOf } from './typed.ts'

type Posted = { Params: { service: string }, Body: URLSearchParams }

/** The errors of a vendor after which a provider may follow. */
const refusals = ['provider_error', 'authentication_error', 'distant_service_error'] as const

/** The most providers of a list. */
const longest = 8

/** Several providers of a service that follow each other: they are listed, what changes is shown, and then it is changed. */
export const switchListPages: FastifyPluginCallback = (app, _options, done) => {
  app.post<Posted>('/services/:service/list', async (request, reply) => {
    const visit = visitOf(request)
    const known = await readKnown(visit, request.params.service)
    const list = listIn(request.body)
    const main = list.length === 0
      ? html`${notice('warn', html`<p>${visit.words.listEmpty}</p>`)}${listSection(visit.words, known)}`
      : preview(visit.words, known, list)
    return show(visit, known, reply, main)
  })

  app.post<Posted>('/services/:service/list/change', async (request, reply) => {
    const visit = visitOf(request)
    const known = await readKnown(visit, request.params.service)
    const providers = listIn(request.body)
    const path = `/api/v1/company/defaults/${encodeURIComponent(known.service)}`
    const changed = await visit.api.send('PUT', path, { providers })
    if (changed.ok) return reply.redirect(withQuery('/console/providers', { changed: known.service }), 303)
    const said = notice('bad', html`<p>${visit.words.companyUnchanged}</p>${sentences(visit.words, errorOf(changed))}`)
    return show(visit, known, reply.code(changed.status), html`${said}${listSection(visit.words, known, providers)}`)
  })
  done()
}

function show (visit: Visit, { service }: Known, reply: FastifyReply, main: Html): FastifyReply {
  const title = fill(visit.words.switchTitle, { service: wordFor(visit.words, 'service', service) })
  return reply.page(page({ ...visit, path: `/console/services/${service}` }, { title, section: 'providers', main }))
}

/** The list that was sent, in the order of its places; lines without a provider are left out. */
function listIn (body: URLSearchParams): ListedProvider[] {
  const textOf = (name: string): string => (body.get(name) ?? '').trim()
  const lines = Array.from({ length: longest }, (_, index) => {
    const [weight, at] = [textOf(`weight.${index}`), Number(textOf(`place.${index}`))]
    const after = refusals.filter((word) => body.get(`after.${index}.${word}`) === 'true')
    return {
      at: Number.isFinite(at) ? at : longest,
      entry: {
        providerName: textOf(`provider.${index}`),
        // What is no number goes to the API, which says so.
        ...weight === '' ? {} : { weight: (/^\d{1,9}$/.test(weight) ? Number(weight) : weight) as number },
        ...after.length === 0 ? {} : { after }
      }
    }
  })
  return lines.filter(({ entry }) => entry.providerName !== '').sort((one, other) => one.at - other.at).map(({ entry }) => entry)
}

/** The form for a list, with two lines more than it has. */
export function listSection (words: Words, known: Known, list = storedList(known)): Html {
  const lines = Array.from({ length: Math.min(list.length + 2, longest) }, (_, index) => lineOf(words, known, index, list[index]))
  return html`<section aria-labelledby="list"><h2 id="list">${words.listTitle}</h2><p>${words.listIntro}</p>
<form method="post" action="/console/services/${known.service}/list" novalidate>${lines}
<div class="actions"><button class="second">${words.switchLook}</button></div></form></section>`
}

function storedList ({ config: { company }, service, now }: Known): readonly ListedProvider[] {
  return company.lists?.[service] ?? (now === undefined ? [] : [{ providerName: now }])
}

function lineOf (words: Words, { available, providers }: Known, index: number, entry?: ListedProvider): Html {
  const name = (field: string): string => `${field}.${index}`
  const options = [...new Set([...available, ...entry === undefined ? [] : [entry.providerName]])].map((value) => ({
    value,
    label: nameOf(providers, value)
  }))
  return html`<fieldset class="line"><legend>${fill(words.line, { n: index + 1 })}</legend><div class="filters">${
    choiceField({ name: name('provider'), label: words.provider, options, value: entry?.providerName, none: words.none })
  }${textField({ name: name('place'), label: words.listPlace, type: 'number', value: String(index + 1) })}${
    textField({
      name: name('weight'),
      label: words.listWeight,
      note: words.optional,
      type: 'number',
      value: entry?.weight === undefined ? '' : String(entry.weight)
    })
  }</div><p class="help">${words.listAfter}</p>${
    refusals.map((word) =>
      checkField({ name: name(`after`) + `.${word}`, label: words[`after_${word}`], checked: entry?.after?.includes(word) === true })
    )
  }</fieldset>`
}

function preview (words: Words, known: Known, list: readonly ListedProvider[]): Html {
  const stored = storedList(known)
  const rows = Array.from({ length: Math.max(stored.length, list.length) },
    (_, index) =>
      html`<tr><th scope="row">${String(index + 1)}</th><td>${message(words, known, stored[index])}</td><td>${
        message(words, known, list[index])
      }</td></tr>\n`)
  const unready = list.filter(({ providerName }) =>
    known.config.company.providers.find(({ code }) => code === providerName)?.valid !== true
  )
  const fields = list.flatMap(({ providerName, weight, after = [] }, index) => [
    hidden(`provider.${index}`, providerName),
    hidden(`place.${index}`, String(index + 1)),
    ...weight === undefined ? [] : [hidden(`weight.${index}`, String(weight))],
    ...after.map((word) => hidden(`after.${index}.${word}`, 'true'))
  ])
  return html`<section>${table(words.switchLook, [words.listPlace, words.switchNow, words.switchThen], rows)}</section>
${
    unready.map(({ providerName }) =>
      notice('warn', html`<p>${nameOf(known.providers, providerName)}${words.colon}${words.switchUnready}</p>`)
    )
  }
<section><p>${words.switchIntro}</p><form method="post" action="/console/services/${known.service}/list/change">${fields}
<div class="actions"><button>${words.switchDo}</button> <a href="/console/services/${known.service}">${words.cancelBack}</a></div></form></section>`
}

function hidden (name: string, value: string): Html {
  return html`<input type="hidden" name="${name}" value="${value}">`
}

/** A provider of a list in words: how often it begins, when it follows, and whether it can be used. */
function message (words: Words, { providers, config }: Known, entry: ListedProvider | undefined): Html {
  if (entry === undefined) return html`<span class="quiet">${words.none}</span>`
  const { providerName, weight, after = [] } = entry
  const facts = [
    weight === undefined ? '' : fill(words.listWeightOf, { weight }),
    ...after.map((word) => words[`after_${word}`]),
    environmentOf(words, config, providerName),
    settingsOf(words, config, providerName)
  ].filter((fact) => fact !== '')
  return html`<strong>${nameOf(providers, providerName)}</strong><br><span class="quiet">${facts.join(' · ')}</span>`
}
