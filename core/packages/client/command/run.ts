import { acts } from './acts.ts'
import { readArguments, usage } from './arguments.ts'
import { completions } from './completion.ts'
import { failure, UsageError } from './failures.ts'
import { newKey } from './keys.ts'
import { apiVersion, connected } from './service.ts'
import { profileNames, readProfile, storedProfile, writeProfile } from './settings.ts'
import type { Surroundings } from './surroundings.ts'
import type { Json } from './words.ts'

/** Runs a command, and answers its exit code. */
export async function run (given: readonly string[], surroundings: Surroundings): Promise<number> {
  try {
    return await command(given, surroundings)
  } catch (error) {
    const { text, code } = failure(error, given.includes('--json'))
    surroundings.errors.write(`${text}\n`)
    return code
  }
}

async function command (given: readonly string[], surroundings: Surroundings): Promise<number> {
  const { name, words, values } = readArguments(given)
  const { env, output, wait } = surroundings
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
  const [first] = words
  const need = (what: string): string => {
    if (first === undefined) throw new UsageError(`"dispatch ${name}" needs ${what}.`)
    return first
  }
  const isRequested = name === 'completion' && (first === 'services' || first === 'events')
  if (name === 'completion' && !isRequested) {
    // The scripts ask for them.
    if (first === 'profiles') (await profileNames(env)).forEach(print)
    else output.write(scriptFor(need('a shell: bash, zsh or fish')))
    return 0
  }
  if (values.key !== undefined && /[^ -~]/.test(values.key)) {
    throw new UsageError('--key has a character that is neither ASCII nor visible.')
  }
  const stored = await readProfile(values.profile, env, values.url)
  const kept = await storedProfile(values.profile, env)
  if (name !== 'login' && values.profile !== 'default' && kept === undefined) {
    throw new UsageError(`There is no profile "${values.profile}": "dispatch login --profile ${values.profile} --url <address>" makes it.`)
  }
  const url = addressOf(stored.url)
  const services = ['send', 'validate', 'batch'].includes(name) ? need('a service, such as invoicing or file/email') : 'file'
  if (!/^[a-z]+(\/[a-z]+){0,3}$/.test(services)) throw new UsageError(`"${services}" is no service, nor up to four with / between them.`)
  const connect = (key?: string) => connected(url, services, key, wait)
  const show = (answer: Json, line: string): void => print(values.json === true ? JSON.stringify(answer, null, 2) : line)
  if (name === 'login') {
    const key = await newKey(connect, surroundings, values.device === true)
    const file = await writeProfile(values.profile, { url, key }, env)
    show({ file, url, profile: values.profile }, `${file} has the key for ${url}, as the profile "${values.profile}".`)
    return 0
  }
  if (isRequested) {
    const { paths, webhooks } = await connect().api.document()
    const services = Object.keys(paths).flatMap((path) => /^\/api\/([a-z/]+)\/validate$/.exec(path)?.[1] ?? [])
    ;(first === 'events' ? Object.keys(webhooks) : services).forEach(print)
    return 0
  }
  const { key } = stored
  if (key === undefined) {
    const elsewhere = kept?.key === undefined ? '' : ` The key of the profile "${values.profile}" is for ${kept.url ?? ''} alone.`
    throw new UsageError(`Who asks? "dispatch login" stores a key, and DISPATCH_KEY says one.${elsewhere}`)
  }
  const act = acts[name]
  if (act === undefined) throw new UsageError(usage)
  return act({ ...connect(key), words, values, services, stored: { ...stored, url, key }, surroundings, need, print, show })
}

function scriptFor (shell: string): string {
  const script = completions[shell]
  if (script === undefined) throw new UsageError('There is completion for bash, zsh and fish.')
  return script
}

function addressOf (url: string | undefined): string {
  if (url === undefined) throw new UsageError('Where is the service? Say it with --url, DISPATCH_URL, or "dispatch login --url <address>".')
  if (!/^https?:\/\//.test(url)) throw new UsageError(`The address of a service begins with https:// or http://, unlike "${url}".`)
  return url
}
