import { type Html, html } from '../../html.ts'
import { reasonOf } from '../form/sentence.ts'
import { fill, type Words } from '../language/language.ts'
import type { CallbackView } from '../session/api.ts'
import type { Visit } from '../session/visit.ts'
import type { LongList } from './columns.ts'
import { badge, time } from './layout.ts'

/** What a table of the callbacks of an endpoint can show. */
export const callbackTable: LongList<CallbackView, { words: Words }> = {
  name: 'callbacks',
  first: {
    title: ({ callbackEvent }) => callbackEvent,
    cell: ({ dispatchId, type }) => dispatchId === undefined ? type : html`<a href="/console/dispatches/${dispatchId}">${type}</a>`
  },
  columns: {
    status: { title: ({ status }) => status, cell: ({ state }, { words }) => badge(words, 'state', state) },
    created: { title: ({ created }) => created, cell: ({ createdAt }) => time(createdAt) },
    attempts: { title: ({ callbackAttempts }) => callbackAttempts, cell: ({ attempts }, { words }) => attemptsOf(words, attempts) },
    answer: {
      title: ({ callbackAnswer }) => callbackAnswer,
      cell: ({ attempts }, { words }) => {
        const last = attempts.at(-1)
        return last === undefined ? '' : answerOf(words, last)
      }
    },
    id: { title: ({ callbackId }) => callbackId, cell: ({ id }) => html`<code>${id}</code>` }
  },
  usual: ['status', 'created', 'attempts', 'answer']
}

function attemptsOf (words: Words, attempts: CallbackView['attempts']): Html {
  return html`<details><summary>${fill(words.attempts, { n: attempts.length })}</summary><ol>${
    attempts.map((attempt) => html`<li>${time(attempt.at)} ${answerOf(words, attempt)}</li>`)
  }</ol></details>`
}

function answerOf (words: Words, { status, reason }: CallbackView['attempts'][number]): Html {
  return html`${status === undefined ? '' : String(status)} ${reasonOf(words, { reason })}`
}

/**
 * Callbacks with their attempts. An admin sends one again by a form to its id below `path`.
 */
export function callbackList ({ words, actor }: Visit, callbacks: readonly CallbackView[], path: string): Html {
  return html`<ul class="list">${
    callbacks.map(({ id, type, receiver, state, attempts, createdAt }) =>
      html`<li><span>${type}</span> <span class="quiet">${receiver}</span> ${badge(words, 'state', state)} ${attemptsOf(words, attempts)}${
        actor.role === 'admin' && state !== 'pending'
          ? html`<form method="post" action="${path}/${id}"><button class="second">${words.sendAgain}</button></form>`
          : html``
      } ${time(createdAt)}</li>\n`
    )
  }</ul>`
}
