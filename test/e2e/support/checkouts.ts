import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { root } from './process.ts'

/** Whether this checkout has a commit: an archive of the sources has none. */
export const hasCommit = (commit: string): boolean => git(root, 'cat-file', '-e', `${commit}^{commit}`).status === 0

/** A checkout of a commit in a temporary folder, with the packages of this one. */
export function checkoutOf (t: Test, commit: string): string {
  const folder = temporary(t)
  const { status, stderr } = git(root, 'clone', '--quiet', '--shared', '--no-checkout', root, folder)
  if (status !== 0) throw new Error(stderr)
  git(folder, 'checkout', '--quiet', '--detach', commit)
  linkPackages(folder)
  return folder
}

/** A copy of this checkout as it is, in a temporary folder, with the packages of this one. */
export function copyOfThis (t: Test): string {
  const folder = temporary(t)
  const files = git(root, 'ls-files', '--cached', '--others', '--exclude-standard', '-z').stdout.split('\0')
  for (const file of files) if (file !== '' && existsSync(join(root, file))) cpSync(join(root, file), join(folder, file))
  linkPackages(folder)
  return folder
}

/** On the same file system as the packages. */
function temporary (t: Test): string {
  mkdirSync(join(root, '.tap'), { recursive: true })
  const folder = mkdtempSync(join(root, '.tap/checkout-'))
  t.teardown(() => {
    rmSync(folder, { recursive: true })
  })
  return folder
}

function git (cwd: string, ...args: string[]): { status: number | null, stdout: string, stderr: string } {
  return spawnSync('git', args, { cwd, encoding: 'utf8', maxBuffer: 1024 * 1024 * 64 })
}

/**
 * Hard links cost no room; those of the workspace are symbolic and relative, so they lead to the folder's own. What Node and the compiler
 * have found out about the files of this checkout comes along: they look again at those that differ.
 */
function linkPackages (folder: string): void {
  for (const path of ['node_modules', 'core/node_modules']) {
    if (existsSync(join(root, path))) spawnSync('cp', ['-al', join(root, path), join(folder, path)])
  }
  const cache = join(folder, 'node_modules/.cache')
  for (const name of existsSync(cache) ? readdirSync(cache) : []) {
    if (name !== 'compiled') rmSync(join(cache, name), { recursive: true })
  }
  // The compiler writes into this one.
  const types = 'node_modules/.cache/tsconfig.tsbuildinfo'
  if (existsSync(join(root, types))) cpSync(join(root, types), join(folder, types))
}
