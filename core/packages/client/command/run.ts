import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type Readable, Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { parseArgs } from 'node:util'
import { clientOf } from '../client.ts'
import { type CallError, isCallError } from '../errors.ts'
import type { Terminal } from './bar.ts'
import { type BatchApi, isWhole, runBatch, wordsOf } from './batch.ts'
import { bridge } from './bridge.ts'
import { commands, completions, mostWords } from './completion.ts'
import { type CallbackDocument, exampleOf, listen, post, type Receiver, tail } from './listen.ts'
import { grantedKey, type LoginApi } from './login.ts'
import { type Profile, profileNames, readProfile, storedProfile, writeProfile } from './settings.ts'
import { type JsonSchema, typesOf, type Vocabulary } from './types.ts'

export const usage =
  `dispatch login --url <address> [--device]         stores a key: one that you grant at the console, or one on standard input
dispatch send <service>[/<service> …] [<file>]    dispatches a request: JSON from a file or standard input
dispatch validate <service>[/<service> …] [<file>]
dispatch batch <service>[/<service> …] <file> [--common <file>] [--mapping <file>] [--valid]
                                                  sends each row of a CSV or NDJSON file, and follows them to their end
dispatch list [--status <status>] [--limit <number>]
dispatch show <dispatch>
dispatch tail [<dispatch>]                        follows a dispatch to its end, or all of the company
dispatch retry <dispatch>
dispatch listen [--forward <address>] [--limit <number>]
                                                  shows what callbacks tell, and forwards it, signed, to a receiver on this machine
dispatch trigger <event> --forward <address>      sends a receiver an event of this type, signed as "listen" does
dispatch templates pull [<folder>]                writes the company's templates into a folder, each as a JSON file
dispatch templates push <file>                    stores a template, or its next version
dispatch templates preview <template> --out <file> [--data <file>]
dispatch types [--out <file>]                     writes TypeScript types of the data of the templates
dispatch mcp                                      tools for an assistant, by the Model Context Protocol
dispatch completion bash|zsh|fish

--profile <name>  a service and its key; "default" unless given. DISPATCH_URL and DISPATCH_KEY go first.
--json            prints what the service answers, errors too
--version         prints the version of the API that the command speaks
--async, --sandbox, --strict, --key <idempotency key>    for what is sent

Exit codes: 0 done, 1 refused, 2 wrong usage, 3 the outcome is unknown, 4 not now or not reachable, 5 no access,
6 it waits until somebody else has approved it.`

/** What a run reads and writes. */
export type Surroundings = {
  env: Readonly<Record<string, string | undefined>>
  input: Readable & { isTTY?: boolean }
  output: Writable
  errors: Terminal
  vocabulary: () => Promise<Vocabulary>
  /** In the place of the clock, for tests. */
  wait?: (milliseconds: number) => Promise<unknown>
}

class UsageError extends Error {}

type Json = Record<string, unknown>
type Page = { data: Json[], nextCursor: string | null }
type List = PromiseLike<Page> & AsyncIterable<Json>
type Api = {
  api: {
    list: (options: object) => List
    show: (id: string) => Promise<Json>
    retry: (id: string, body: object, options: object) => Promise<Json>
    followAll: () => Promise<Response>
    templates: (options: object) => List
    template: (id: string) => Promise<Json>
    addTemplate: (body: object) => Promise<Json>
    addVersion: (id: number, body: object) => Promise<Json>
    preview: (id: string, body: object) => Promise<Response>
    send: (body: object, options: object) => Promise<Json>
    validate: (body: object, options: object) => Promise<Json>
    events: (options: object) => Promise<Response>
    document: () => Promise<CallbackDocument>
  }
  device: LoginApi
  batches: BatchApi
  wait: (id: string, options: object) => Promise<Json>
}

const apiVersion = '1.1.0'

/** Runs a command, and answers its exit code. */
export async function run (given: readonly string[], surroundings: Surroundings): Promise<number> {
  try {
    return await command(given, surroundings)
  } catch (error) {
    const { errors } = surroundings
    const isJson = given.includes('--json')
    if (isCallError(error)) {
      errors.write(`${isJson ? JSON.stringify(factsOf(error), null, 2) : told(error)}\n`)
      return codeOf(error)
    }
    const message = sentenceOf(error)
    errors.write(`${isJson ? JSON.stringify({ error: 'usage', message }, null, 2) : message}\n`)
    return error instanceof UsageError || /^(ERR_PARSE_ARGS|E[A-Z]+$)/.test((error as NodeJS.ErrnoException).code ?? '') ? 2 : 1
  }
}

/** What is wrong with a file that a run was told of, by the word of the system. */
const faultsOfFiles: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  EISDIR: 'is a folder',
  EEXIST: 'is a file, and a folder is needed',
  ENOTDIR: 'lies in a file, and a folder is needed',
  EACCES: 'is not open to you'
}

function sentenceOf (error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { code = '', path, message } = error as NodeJS.ErrnoException
  // The rest tells programs how to take such a word as a file.
  if (code.startsWith('ERR_PARSE_ARGS')) return `${message.split('. ')[0] ?? message}. "dispatch --help" has all options.`
  const fault = faultsOfFiles[code]
  // The name of a folder is not there where its bytes were asked for.
  return fault === undefined ? message : `${path === undefined ? 'What stands for a file' : `"${path}"`} ${fault}.`
}

async function command (given: readonly string[], surroundings: Surroundings): Promise<number> {
  const { values, positionals: [name = '', ...words] } = parseArgs({
    args: [...given],
    allowPositionals: true,
    options: {
      url: { type: 'string' },
      profile: { type: 'string', default: 'default' },
      json: { type: 'boolean' },
      async: { type: 'boolean' },
      sandbox: { type: 'boolean' },
      strict: { type: 'boolean' },
      key: { type: 'string' },
      status: { type: 'string' },
      limit: { type: 'string' },
      data: { type: 'string' },
      common: { type: 'string' },
      mapping: { type: 'string' },
      valid: { type: 'boolean' },
      device: { type: 'boolean' },
      forward: { type: 'string' },
      out: { type: 'string' },
      help: { type: 'boolean' },
      version: { type: 'boolean' }
    }
  })
  const { env, input, output, wait: sleep } = surroundings
  const print = (line: string): void => {
    output.write(`${line}\n`)
  }
  if (values.help === true || name === 'help') {
    print(usage)
    return 0
  }
  if (values.version === true) {
    print(apiVersion)
    return 0
  }
  if (!Object.hasOwn(commands, name)) throw new UsageError(name === '' ? usage : `There is no command "${name}".\n\n${usage}`)
  const spare = words[mostWords[name] ?? 1]
  if (spare !== undefined) {
    throw new UsageError(`"dispatch ${name}" has nothing to do with "${spare}": "dispatch --help" says what it takes.`)
  }
  const [first] = words
  const need = (what: string): string => {
    if (first === undefined) throw new UsageError(`"dispatch ${name}" needs ${what}.`)
    return first
  }
  if (name === 'completion' && first !== 'services') {
    // The scripts ask for them.
    if (first === 'profiles') {
      for (const profile of await profileNames(env)) print(profile)
      return 0
    }
    const script = completions[need('a shell: bash, zsh or fish')]
    if (script === undefined) throw new UsageError('There is completion for bash, zsh and fish.')
    output.write(script)
    return 0
  }
  const stored = await readProfile(values.profile, env, values.url)
  if (values.key !== undefined && /[^ -~]/.test(values.key)) {
    throw new UsageError('--key has a character that is neither ASCII nor visible.')
  }
  const { url } = stored
  const kept = await storedProfile(values.profile, env)
  if (name !== 'login' && values.profile !== 'default' && kept === undefined) {
    throw new UsageError(`There is no profile "${values.profile}": "dispatch login --profile ${values.profile} --url <address>" makes it.`)
  }
  if (url === undefined) throw new UsageError('Where is the service? Say it with --url, DISPATCH_URL, or "dispatch login --url <address>".')
  if (!/^https?:\/\//.test(url)) throw new UsageError(`The address of a service begins with https:// or http://, unlike "${url}".`)
  const services = ['send', 'validate', 'batch'].includes(name) ? need('a service, such as invoicing or file/email') : 'file'
  if (!/^[a-z]+(\/[a-z]+){0,3}$/.test(services)) throw new UsageError(`"${services}" is no service, nor up to four with / between them.`)
  const connect = (key?: string): Api =>
    clientOf({ baseUrl: url, ...key === undefined ? {} : { key } }, {
      apiVersion,
      ...sleep === undefined ? {} : {
        pause: async (seconds: number) => {
          await sleep(seconds * 1_000)
        }
      },
      operations: {
        api: {
          list: 'dispatches GET pages',
          show: 'dispatches/{id} GET',
          retry: 'dispatches/{id}/retry POST body key',
          followAll: 'dispatches/changes GET raw events',
          templates: 'templates GET pages',
          template: 'templates/{id} GET',
          addTemplate: 'templates POST body',
          addVersion: 'templates/{id} PUT body',
          preview: 'templates/{id}/preview POST body raw',
          send: `/api/${services} POST body key`,
          validate: `/api/${services}/validate POST body`,
          events: 'events/stream GET raw events',
          document: `/openapi/${apiVersion}.json GET`
        },
        device: { begin: '/auth/device POST body', take: '/auth/device/token POST body' },
        batches: {
          take: 'batches POST form key',
          read: 'batches/{id} GET',
          results: 'batches/{id}/results GET raw'
        }
      }
    }) as Api
  const show = (answer: Json, line: string): void => print(values.json === true ? JSON.stringify(answer, null, 2) : line)
  if (name === 'login') {
    const key = await newKey(connect, surroundings, values.device === true)
    const file = await writeProfile(values.profile, { url, key }, env)
    show({ file, url, profile: values.profile }, `${file} has the key for ${url}, as the profile "${values.profile}".`)
    return 0
  }
  if (name === 'completion') {
    const { paths } = await connect().api.document()
    for (const path of Object.keys(paths)) {
      const [, service] = /^\/api\/([a-z/]+)\/validate$/.exec(path) ?? []
      if (service !== undefined) print(service)
    }
    return 0
  }
  if (stored.key === undefined) {
    const elsewhere = kept?.key === undefined ? '' : ` The key of the profile "${values.profile}" is for ${kept.url ?? ''} alone.`
    throw new UsageError(`Who asks? "dispatch login" stores a key, and DISPATCH_KEY says one.${elsewhere}`)
  }
  if (name === 'mcp') {
    await bridge({ url, key: stored.key }, surroundings)
    return 0
  }
  const { api, batches, wait } = connect(stored.key)
  const sending = {
    ...values.async === true ? { async: true } : {},
    ...values.sandbox === true ? { sandbox: true } : {},
    ...values.strict === true ? { strict: true } : {},
    ...values.key === undefined ? {} : { idempotencyKey: values.key }
  }
  switch (name) {
    case 'send': {
      const answer = await api.send(await readJson(words[1], input), sending)
      if (answer['status'] === 'approval_required') {
        const { rules, statusUrl } = answer as { rules: string[], statusUrl: string }
        show(answer, `It waits until somebody else has approved it (${rules.join(', ')}): ${statusUrl}`)
        return 6
      }
      show(answer, `${String(answer['dispatchId'])} ${String(answer['status'])}${warningsOf(answer)}`)
      return 0
    }
    case 'validate': {
      const { idempotencyKey: _, async: __, ...options } = { idempotencyKey: '', async: false, ...sending }
      const answer = await api.validate(await readJson(words[1], input), options)
      show(answer, `${String(answer['result'])}${warningsOf(answer)}`)
      return 0
    }
    case 'batch': {
      const [, file] = words
      if (file === undefined) throw new UsageError('"dispatch batch" needs a file: CSV or NDJSON, a dispatch in each row.')
      const { async: _, ...options } = { async: false, ...sending }
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
    case 'list': {
      const page = await api.list({ limit: values.limit ?? '25', status: values.status })
      if (values.json === true) print(JSON.stringify(page, null, 2))
      else for (const dispatch of page.data) print(lineOf(dispatch))
      return 0
    }
    case 'show': {
      const dispatch = await api.show(need('the id of a dispatch'))
      const steps = (dispatch['steps'] as Json[]).map((step) =>
        `  ${String(step['service'])} ${String(step['status'])}${nameIn(step['providerName'])}`
      )
      show(dispatch, [lineOf(dispatch), ...steps].join('\n'))
      return 0
    }
    case 'tail': {
      const line = (dispatch: Json): void => print(values.json === true ? JSON.stringify(dispatch) : lineOf(dispatch))
      if (first === undefined) {
        const { errors } = surroundings
        await tail(api.followAll, line, { errors, ...sleep === undefined ? {} : { wait: sleep } })
        return 0
      }
      const end = await wait(first, { onChange: line })
      return end['status'] === 'succeeded' ? 0 : 1
    }
    case 'retry': {
      const answer = await api.retry(need('the id of a dispatch'), {}, sending)
      show(answer, `${String(answer['dispatchId'])} ${String(answer['status'])}`)
      return 0
    }
    case 'listen': {
      const { forward, limit, json = false } = values
      if (limit !== undefined && !/^[1-9]\d{0,8}$/.test(limit)) throw new UsageError(`--limit is a number of events, not "${limit}".`)
      const receiver = forward === undefined ? undefined : await receiverAt(forward, stored, values.profile, surroundings)
      const { errors, wait: pause } = surroundings
      const more = pause === undefined ? {} : { wait: pause }
      await listen((after) => api.events(after === undefined ? {} : { after }), {
        forward: receiver,
        limit: limit === undefined ? Infinity : Number(limit),
        json,
        print,
        errors,
        ...more
      })
      return 0
    }
    case 'trigger': {
      const [type, document] = [need('a type of event'), await api.document()]
      const event = exampleOf(document, type, new Date())
      if (event === undefined) {
        throw new UsageError(
          `There is no event "${type}". There are:\n${Object.keys(document.webhooks).map((one) => `  ${one}`).join('\n')}`
        )
      }
      const { forward } = values
      if (forward === undefined) {
        throw new UsageError('"dispatch trigger" needs --forward <address>: the receiver that is to get the event.')
      }
      const answer = await post(await receiverAt(forward, stored, values.profile, surroundings), event)
      show({ type, receiver: forward, answer }, `${type} → ${answer}`)
      return /^2\d\d$/.test(answer) ? 0 : 1
    }
    case 'templates':
      return templates(api, words, { ...values, show })
    default: {
      const found: { id: number, name: string, schema: JsonSchema }[] = []
      for await (const template of api.templates({ limit: 100 })) found.push(template as (typeof found)[number])
      const module = typesOf(found, await surroundings.vocabulary())
      if (values.out === undefined) output.write(module)
      else await writeFile(values.out, module)
      return 0
    }
  }
}

/** A key that somebody grants at the console, where there is a terminal; else, or where the service has no such login, one that is read. */
async function newKey (connect: (key?: string) => Api, surroundings: Surroundings, isAsked: boolean): Promise<string> {
  if (surroundings.input.isTTY !== true && !isAsked) return knownKey(connect, surroundings)
  try {
    // It is shown once: nothing is asked with it that could fail before it is stored.
    return await grantedKey(connect().device, surroundings)
  } catch (error) {
    if (isAsked || !isCallError(error) || (error.error !== 'not_found' && error.error !== 'conflict')) throw error
    return knownKey(connect, surroundings)
  }
}

/** A key that is read, and that the service knows, whatever it may be used for. */
async function knownKey (connect: (key?: string) => Api, surroundings: Surroundings): Promise<string> {
  const key = await readKey(surroundings)
  try {
    await connect(key).api.templates({ limit: 1 })
  } catch (error) {
    if (!isCallError(error) || error.error !== 'forbidden') throw error
  }
  return key
}

/**
 * A receiver, with the secret with which events for it are signed: that of `DISPATCH_CALLBACK_SECRET`, else the profile's own, which is not
 * the service's. That one is made once and told; without a profile in the file, it is made for this run.
 */
async function receiverAt (
  url: string,
  { secret: known }: Partial<Profile>,
  profile: string,
  { env, errors }: Surroundings
): Promise<Receiver> {
  checkReceiver(url)
  if (known !== undefined && known === env['DISPATCH_CALLBACK_SECRET']) return { url, secret: known }
  const secret = known ?? `whsec_${Buffer.from(crypto.getRandomValues(new Uint8Array(24))).toString('base64')}`
  if (known === undefined && await storedProfile(profile, env) !== undefined) await writeProfile(profile, { secret }, env)
  errors.write(`What is forwarded to ${url} is signed with ${secret}\n`)
  return { url, secret }
}

/** Events hold data of people: in the clear they go to this machine alone. */
function checkReceiver (address: string): void {
  const url = URL.canParse(address) ? new URL(address) : undefined
  const isOwn = ['localhost', '127.0.0.1', '[::1]'].includes(url?.hostname ?? '')
  if (url?.protocol === 'https:' || (url?.protocol === 'http:' && isOwn)) return
  throw new UsageError(
    `--forward takes an address such as http://localhost:4000/callbacks, or one that begins with https://, not "${address}".`
  )
}

type TemplateOptions = { out?: string, data?: string, show: (answer: Json, line: string) => void }

/** Pulls, pushes and previews templates. A file has what a company may write, and the version that it is based on. */
async function templates (api: Api['api'], [word, place]: readonly string[], { out, data, show }: TemplateOptions): Promise<number> {
  if (word === 'pull') {
    const folder = place ?? '.'
    await mkdir(folder, { recursive: true })
    const pulled: Json[] = []
    for await (const { id, companyId } of api.templates({ limit: 100 })) {
      if (companyId === null) continue
      const { name, service, documentType, source, schema, sample, latestVersion } = await api.template(String(id))
      const file = join(folder, `${String(id)}.template.json`)
      await writeFile(file,
        `${JSON.stringify({ id, baseVersion: latestVersion, name, service, documentType, source, schema, sample }, null, 2)}\n`)
      pulled.push({ file, id, name, version: latestVersion })
    }
    show({ data: pulled }, pulled.map((one) => `${String(one['file'])} ${String(one['name'])}`).join('\n'))
    return 0
  }
  if (word === 'push' && place !== undefined) {
    const { id, baseVersion, ...template } = await readJson(place) as { id?: number, baseVersion?: number } & Json
    const stored = id === undefined ? await api.addTemplate(template) : await api.addVersion(id, { baseVersion, ...template })
    const { id: kept, latestVersion } = stored
    // The next push is based on what this one has stored.
    await writeFile(place, `${JSON.stringify({ id: kept, baseVersion: latestVersion, ...template }, null, 2)}\n`)
    show({ file: place, id: kept, version: latestVersion, warnings: stored['warnings'] },
      `${String(kept)} version ${String(latestVersion)}${warningsOf(stored)}`)
    return 0
  }
  if (word === 'preview' && place !== undefined && out !== undefined) {
    const answer = await api.preview(place, data === undefined ? {} : { data: await readJson(data) })
    await writeFile(out, new Uint8Array(await answer.arrayBuffer()))
    show({ file: out }, out)
    return 0
  }
  throw new UsageError('There are "templates pull [<folder>]", "templates push <file>" and "templates preview <template> --out <file>".')
}

/** What went wrong, where, what to do, and the id by which the service's operators find it. */
function told ({ error, message, problems, requestId, dispatchId, idempotencyKey, outcomeUnknown, docs }: CallError): string {
  return [
    // What the client calls so, a person has written there.
    message.replaceAll('"baseUrl"', '--url'),
    ...problems.slice(1).map(({ path, message: sentence }) => `  ${path}: ${sentence}`),
    ...error === 'unauthorized' ? ['"dispatch login" stores a key.'] : [],
    ...dispatchId === undefined ? [] : [`The dispatch: ${dispatchId}`],
    ...outcomeUnknown && idempotencyKey !== undefined ? [`Repeat it only with --key ${idempotencyKey}: so it is sent once.`] : [],
    ...requestId === undefined ? [] : [`The request: ${requestId}`],
    ...docs === undefined ? [] : [`What it means: ${docs}`]
  ].join('\n')
}

/** An error for programs. */
function factsOf ({
  error,
  message,
  httpStatus,
  requestId,
  dispatchId,
  idempotencyKey,
  retryAfter,
  surelyNotSent,
  outcomeUnknown,
  problems,
  docs
}: CallError): object {
  return {
    error,
    message,
    httpStatus,
    requestId,
    dispatchId,
    idempotencyKey,
    retryAfter,
    surelyNotSent,
    outcomeUnknown,
    details: problems,
    docs
  }
}

const noAccess: ReadonlySet<string> = new Set(['unauthorized', 'forbidden', 'fresh_proof_required', 'https_required', 'access_denied',
  'expired_token'])

function codeOf ({ error, outcomeUnknown }: CallError): number {
  if (noAccess.has(error)) return 5
  if (error === 'rate_limited' || error === 'service_unavailable' || error === 'provider_unavailable' || error === 'unreachable') return 4
  return outcomeUnknown ? 3 : 1
}

function lineOf ({ dispatchId, status, createdAt, services, recipient }: Json): string {
  const texts = [dispatchId, status, createdAt, (services as string[] | undefined)?.join('/'), recipient] as (string | undefined)[]
  return texts.filter((one) => one !== undefined).join(' ')
}

function nameIn (providerName: unknown): string {
  return typeof providerName === 'string' ? ` ${providerName}` : ''
}

function warningsOf ({ warnings }: Json): string {
  return ((warnings ?? []) as { path: string, message: string }[]).map(({ path, message }) => `\n  ${path}: ${message}`).join('')
}

async function readJson (file: string | undefined, input?: Readable): Promise<object> {
  const isRead = input !== undefined && (file === undefined || file === '-')
  const written = isRead ? await text(input) : await readFile(file ?? '', 'utf8')
  try {
    return JSON.parse(written) as object
  } catch (cause) {
    throw new UsageError(`${isRead ? 'Standard input' : file ?? ''} is not JSON: ${cause instanceof Error ? cause.message : ''}`, { cause })
  }
}

/** A key from standard input; at a terminal it is not shown. It is never an argument, which other users of the machine could read. */
async function readKey ({ input, errors }: Surroundings): Promise<string> {
  const isTyped = input.isTTY === true
  const nowhere = new Writable({
    write: (_chunk, _encoding, done) => {
      done()
    }
  })
  const reader = createInterface({ input, output: nowhere, terminal: isTyped })
  if (isTyped) errors.write('Key: ')
  try {
    for await (const line of reader) if (line.trim() !== '') return line.trim()
    throw new UsageError('No key was given: it is the first line of standard input. POST /api/v1/keys, or the console, makes one.')
  } finally {
    reader.close()
    if (isTyped) errors.write('\n')
  }
}
