import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'

/** Where a service is, and the key for it. `secret`: with what `dispatch listen` signs what it forwards. */
export type Profile = { url: string, key: string, secret?: string }
type Profiles = Record<string, Partial<Profile>>

type Environment = Readonly<Record<string, string | undefined>>

/** The file of the profiles: only its owner can read it. */
export function profilesFile (env: Environment): string {
  return join(env['XDG_CONFIG_HOME'] ?? env['APPDATA'] ?? join(homedir(), '.config'), 'dispatch', 'profiles.json')
}

/** The profile of a call. What the environment says goes first: programs need no file. A stored key goes to its own service alone. */
export async function readProfile (name: string, env: Environment, given?: string): Promise<Partial<Profile>> {
  const stored = await storedProfile(name, env)
  const url = given ?? env['DISPATCH_URL'] ?? stored?.url
  const key = env['DISPATCH_KEY'] ?? (originOf(url) === originOf(stored?.url) ? stored?.key : undefined)
  const secret = env['DISPATCH_CALLBACK_SECRET'] ?? stored?.secret
  return {
    ...url === undefined ? {} : { url },
    ...key === undefined ? {} : { key },
    ...secret === undefined ? {} : { secret }
  }
}

function originOf (url: string | undefined): string | undefined {
  return url !== undefined && URL.canParse(url) ? new URL(url).origin : url
}

/** What the file has of a profile; undefined where it has none of this name. */
export async function storedProfile (name: string, env: Environment): Promise<Partial<Profile> | undefined> {
  return (await readProfiles(env))[name]
}

export async function profileNames (env: Environment): Promise<string[]> {
  return Object.keys(await readProfiles(env))
}

/** Writes these parts of a profile into the file, whose name it answers. Its other parts stay as they are there. */
export async function writeProfile (name: string, parts: Partial<Profile>, env: Environment): Promise<string> {
  const file = profilesFile(env)
  const profiles = await readProfiles(env)
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  await writeFile(file, `${JSON.stringify({ ...profiles, [name]: { ...profiles[name], ...parts } }, null, 2)}\n`, { mode: 0o600 })
  // A file that was there keeps its mode otherwise.
  await chmod(file, 0o600)
  return file
}

async function readProfiles (env: Environment): Promise<Profiles> {
  const file = profilesFile(env)
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {}
    throw error
  }
  try {
    return JSON.parse(text) as Profiles
  } catch (cause) {
    throw new Error(`${file} is not JSON: mend or remove it.`, { cause })
  }
}
