import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import type { Test } from 'tap'
import { isRoot } from '../e2e/support/process.ts'

/** One line of a Containerfile, with those that continue it. `stage`: how many FROM lines come before. */
export type Instruction = { word: string, args: string, stage: number }

/** Reads the instructions of a Containerfile, without its comments. */
export function readInstructions (file: string): Instruction[] {
  const lines = readFileSync(file, 'utf8').replaceAll(/^#.*\n/gm, '').replaceAll(/\\\n\s*/g, '').split('\n').filter((line) => line !== '')
  let stage = 0
  return lines.map((line) => {
    const [, word = '', args = ''] = /^([A-Z]+) (.+)$/.exec(line.trim()) ?? []
    return { word, args, stage: word === 'FROM' ? stage++ : stage }
  })
}

/** A list of JSON, as the exec form of a command has it; undefined for the form of a shell. */
export function execForm (args: string): string[] | undefined {
  return args.startsWith('[') ? JSON.parse(args) as string[] : undefined
}

/** Why nothing runs in a root of its own: false where it can. */
export const withoutRoots = !isRoot
  ? 'only root makes a root of its own'
  : existsSync('/usr/bin/bwrap') && makesRoots()
  ? false
  : 'bubblewrap is not installed, or may not make namespaces here'

function makesRoots (): boolean {
  return spawnSync('bwrap', ['--ro-bind', '/', '/', '--proc', '/proc', '--dev', '/dev', 'true']).status === 0
}

export type Image = {
  env: Record<string, string>
  entrypoint: string[]
  command: string[]
  health: string[]
  /** The folder of its volume on this machine. */
  volume: string
  /** What runs a program in the image: as its user, nothing to write but its volume and /tmp. */
  inside: (program: readonly string[]) => [string, ...string[]]
}

/**
 * Follows a Containerfile without a builder and without a registry. The base image is this machine's own `/usr`, with this Node in it;
 * everything else comes from COPY and RUN alone. `packages` takes the place of `npm ci`: it puts the packages into a folder.
 */
export function buildImage (t: Test, { file, context, packages }: {
  file: string
  context: (path: string, to: string) => void
  packages: (folder: string) => void
}): Image {
  const folder = mkdtempSync(join(tmpdir(), 'dispatch-image-'))
  t.teardown(() => {
    rmSync(folder, { recursive: true })
  })
  const image = { env: {} as Record<string, string>, entrypoint: [] as string[], command: [] as string[], health: [] as string[] }
  const names: string[] = []
  let [root, workdir, user, volume] = ['', '/', '0:0', '']

  const base = (writable: boolean): string[] => [
    'bwrap',
    '--die-with-parent',
    '--unshare-pid',
    '--unshare-ipc',
    '--unshare-uts',
    '--cap-add',
    'CAP_SETUID',
    '--cap-add',
    'CAP_SETGID',
    ...writable ? ['--cap-add', 'CAP_CHOWN'] : [],
    writable ? '--bind' : '--ro-bind',
    root,
    '/',
    '--ro-bind',
    '/usr',
    '/usr',
    '--tmpfs',
    '/usr/local',
    '--ro-bind',
    process.execPath,
    '/usr/local/bin/node',
    '--proc',
    '/proc',
    '--dev',
    '/dev',
    '--perms',
    '1777',
    '--tmpfs',
    '/tmp',
    ...writable ? [] : ['--remount-ro', '/usr/local', '--bind', join(root, volume), volume],
    '--chdir',
    workdir
  ]
  const as = (ids: string): string[] => {
    const [uid, gid = uid] = ids.split(':')
    return ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', '--no-new-privs']
  }
  const steps: Record<string, (args: string) => void> = {
    FROM (args) {
      root = join(folder, String(names.length))
      names.push(/ AS (\w+)$/.exec(args)?.[1] ?? '')
      for (const name of ['usr', 'proc', 'dev', 'tmp']) mkdirSync(join(root, name), { recursive: true })
      for (const name of ['bin', 'lib', 'lib64']) symlinkSync(`usr/${name}`, join(root, name))
      ;[workdir, user] = ['/', '0:0']
    },
    ARG: () => undefined,
    EXPOSE: () => undefined,
    WORKDIR (args) {
      workdir = args
      mkdirSync(join(root, workdir), { recursive: true })
    },
    COPY (args) {
      const [, from, paths = ''] = /^(?:--from=(\w+) )?(.+)$/.exec(args) ?? []
      const [to = '', ...sources] = paths.split(' ').reverse()
      for (const source of sources) {
        const place = join(root, resolve(workdir, to), to.endsWith('/') ? source : '')
        mkdirSync(dirname(place), { recursive: true })
        if (from === undefined) context(source, place)
        else cpSync(join(folder, String(names.indexOf(from)), source), place, { recursive: true, verbatimSymlinks: true })
      }
    },
    RUN (args) {
      const install = /npm ci(?: --[\w-]+(?:=\w+)?)*/
      if (install.test(args)) packages(join(root, workdir))
      const [program, ...rest] = [...base(true), ...as(user), '/bin/sh', '-ec', args.replace(install, 'true')]
      const { status, stderr } = spawnSync(program, rest, { env: { PATH: '/usr/local/bin:/usr/bin:/bin' }, encoding: 'utf8' })
      if (status !== 0) throw new Error(`RUN ${args}: ${stderr}`)
    },
    USER (args) {
      user = args
    },
    VOLUME (args) {
      volume = args
    },
    ENV (args) {
      for (const [, name = '', value = ''] of args.matchAll(/([A-Z_0-9]+)=(\S+)/g)) image.env[name] = value
    },
    HEALTHCHECK (args) {
      image.health = execForm(args.replace(/^.*?CMD /, '')) ?? []
    },
    ENTRYPOINT (args) {
      image.entrypoint = execForm(args) ?? []
    },
    CMD (args) {
      image.command = execForm(args) ?? []
    }
  }
  for (const { word, args } of readInstructions(file)) {
    const step = steps[word]
    if (step === undefined) throw new Error(`Nobody follows "${word} ${args}".`)
    step(args)
  }
  return { ...image, volume: join(root, volume), inside: (program) => [...base(false), ...as(user), ...program] as [string, ...string[]] }
}
