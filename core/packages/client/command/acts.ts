import { writeFile } from 'node:fs/promises'
import type { Values } from './arguments.ts'
import { isWhole, runBatch, wordsOf } from './batch.ts'
import { bridge } from './bridge.ts'
import { UsageError } from './failures.ts'
import { readJson } from './input.ts'
import { exampleOf, listen, post, tail } from './listen.ts'
import { receiverAt } from './receiver.ts'
import type { Api } from './service.ts'
import type { Profile } from './settings.ts'
import type { Surroundings } from './surroundings.ts'
import { templates } from './templates.ts'
import { type JsonSchema, typesOf } from './types.ts'
import { type Json, lineOf, nameIn, warningsOf } from './words.ts'

/** What an act works with. `services`: the path of what is dispatched; `first`: the first word behind the command, which it needs. */
export type Acting = Pick<Api, 'api' | 'batches' | 'wait'> & {
  words: readonly string[]
  values: Values
  services: string
  stored: Partial<Profile> & { url: string, key: string }
  surroundings: Surroundings
  need: (what: string) => string
  print: (line: string) => void
  /** An answer: whole for programs, in words for people. */
  show: (answer: Json, line: string) => void
}

/** Does what one command says, and answers the exit code. */
type Act = (acting: Acting) => Promise<number>

const send: Act = async ({ api, words, values, surroundings: { input }, show }) => {
  const answer = await api.send(await readJson(words[1], input), sendingOf(values))
  if (answer['status'] === 'approval_required') {
    const { rules, statusUrl } = answer as { rules: string[], statusUrl: string }
    show(answer, `It waits until somebody else has approved it (${rules.join(', ')}): ${statusUrl}`)
    return 6
  }
  show(answer, `${String(answer['dispatchId'])} ${String(answer['status'])}${warningsOf(answer)}`)
  return 0
}

const validate: Act = async ({ api, words, values, surroundings: { input }, show }) => {
  const { idempotencyKey: _, async: __, ...options } = { idempotencyKey: '', async: false, ...sendingOf(values) }
  const answer = await api.validate(await readJson(words[1], input), options)
  show(answer, `${String(answer['result'])}${warningsOf(answer)}`)
  return 0
}

const batch: Act = async ({ batches, words: [, file], values, services, surroundings, show }) => {
  if (file === undefined) throw new UsageError('"dispatch batch" needs a file: CSV or NDJSON, a dispatch in each row.')
  const { async: _, ...options } = { async: false, ...sendingOf(values) }
  const { common, mapping } = values
  const ended = await runBatch(batches, {
    file,
    ...common === undefined ? {} : { common },
    ...mapping === undefined ? {} : { mapping }
  }, {
    ...options,
    service: services,
    mode: values.valid === true ? 'valid' : 'all'
  }, { terminal: surroundings.errors })
  show({ ...ended.batch, rows: ended.rows }, wordsOf(ended))
  if (ended.batch.status === 'paused' && ended.batch.problem?.error === 'approval_required') return 6
  return isWhole(ended.batch) ? 0 : 1
}

const list: Act = async ({ api, values, print }) => {
  const page = await api.list({ limit: values.limit ?? '25', status: values.status })
  if (values.json === true) print(JSON.stringify(page, null, 2))
  else for (const dispatch of page.data) print(lineOf(dispatch))
  return 0
}

const show: Act = async ({ api, need, show: display }) => {
  const dispatch = await api.show(need('the id of a dispatch'))
  const steps = (dispatch['steps'] as Json[]).map((step) =>
    `  ${String(step['service'])} ${String(step['status'])}${nameIn(step['providerName'])}`
  )
  display(dispatch, [lineOf(dispatch), ...steps].join('\n'))
  return 0
}

const follow: Act = async ({ api, wait, words: [first], values, surroundings: { errors, wait: pause }, print }) => {
  const line = (dispatch: Json): void => print(values.json === true ? JSON.stringify(dispatch) : lineOf(dispatch))
  if (first === undefined) {
    await tail(api.followAll, line, { errors, ...pause === undefined ? {} : { wait: pause } })
    return 0
  }
  const end = await wait(first, { onChange: line })
  return end['status'] === 'succeeded' ? 0 : 1
}

const retry: Act = async ({ api, values, need, show: display }) => {
  const answer = await api.retry(need('the id of a dispatch'), {}, sendingOf(values))
  display(answer, `${String(answer['dispatchId'])} ${String(answer['status'])}`)
  return 0
}

const hear: Act = async ({ api, values, stored, surroundings, print }) => {
  const { forward, limit, json = false } = values
  if (limit !== undefined && !/^[1-9]\d{0,8}$/.test(limit)) throw new UsageError(`--limit is a number of events, not "${limit}".`)
  const receiver = forward === undefined ? undefined : await receiverAt(forward, stored, values.profile, surroundings)
  const { errors, wait } = surroundings
  await listen((after) => api.events(after === undefined ? {} : { after }), {
    forward: receiver,
    limit: limit === undefined ? Infinity : Number(limit),
    json,
    print,
    errors,
    ...wait === undefined ? {} : { wait }
  })
  return 0
}

const trigger: Act = async ({ api, values: { forward, profile }, stored, surroundings, need, show: display }) => {
  const [type, document] = [need('a type of event'), await api.document()]
  const event = exampleOf(document, type, new Date())
  if (event === undefined) {
    throw new UsageError(`There is no event "${type}". There are:\n${Object.keys(document.webhooks).map((one) => `  ${one}`).join('\n')}`)
  }
  if (forward === undefined) throw new UsageError('"dispatch trigger" needs --forward <address>: the receiver that is to get the event.')
  const answer = await post(await receiverAt(forward, stored, profile, surroundings), event)
  display({ type, receiver: forward, answer }, `${type} → ${answer}`)
  return /^2\d\d$/.test(answer) ? 0 : 1
}

const types: Act = async ({ api, values: { out }, surroundings: { output, vocabulary } }) => {
  const found: { id: number, name: string, schema: JsonSchema }[] = []
  for await (const template of api.templates({ limit: 100 })) found.push(template as (typeof found)[number])
  const module = typesOf(found, await vocabulary())
  if (out === undefined) output.write(module)
  else await writeFile(out, module)
  return 0
}

const mcp: Act = async ({ stored: { url, key }, surroundings }) => {
  await bridge({ url, key }, surroundings)
  return 0
}

/** What the command does with a key, by its first word. */
export const acts: Readonly<Record<string, Act>> = {
  send,
  validate,
  batch,
  list,
  show,
  tail: follow,
  retry,
  listen: hear,
  trigger,
  templates: ({ api, words, values, show: display }) => templates(api, words, { ...values, show: display }),
  types,
  mcp
}

function sendingOf ({ async: isAsync, sandbox, strict, key }: Values): object {
  return {
    ...isAsync === true ? { async: true } : {},
    ...sandbox === true ? { sandbox: true } : {},
    ...strict === true ? { strict: true } : {},
    ...key === undefined ? {} : { idempotencyKey: key }
  }
}
