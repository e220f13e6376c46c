import { compile } from '@dispatch/common'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Type } from 'typebox'

const fitPackage = compile(Type.Object({ name: Type.String(), version: Type.String(), license: Type.Optional(Type.String()) }))

/** Files whose text a licence asks to be passed on. */
const licences = /^(?:licen[cs]e|copying|notice)(?:[.-].*)?$/i

/** The licences of the packages to which files belong, each with its text. */
export function licencesOf (files: readonly string[]): string {
  const packages = new Map(files.flatMap((file) => {
    const folder = packageFolder(file)
    return folder === undefined ? [] : [[nameOf(folder), folder]]
  }))
  return [...packages].sort(([one], [other]) => one < other ? -1 : 1).map(([name, folder]) => `${name}\n\n${textsIn(folder)}`).join(
    `\n${'-'.repeat(80)}\n\n`
  )
}

/** The nearest folder above with the package.json of a package. Packages have others, which only set the kind of their modules. */
function packageFolder (file: string): string | undefined {
  for (let folder = dirname(file); folder !== dirname(folder); folder = dirname(folder)) {
    if (packageIn(folder) !== undefined) return folder
  }
  return undefined
}

function packageIn (folder: string): { name: string, version: string, license?: string } | undefined {
  const path = join(folder, 'package.json')
  const fit = existsSync(path) ? fitPackage(JSON.parse(readFileSync(path, 'utf8'))) : undefined
  return fit?.ok === true ? fit.value : undefined
}

function nameOf (folder: string): string {
  const { name = '', version = '', license } = packageIn(folder) ?? {}
  return `${name} ${version} (${license ?? 'no licence named'})`
}

function textsIn (folder: string): string {
  return readdirSync(folder).filter((file) => licences.test(file)).sort().map((file) => readFileSync(join(folder, file), 'utf8').trim())
    .join(
      '\n\n'
    ).concat('\n')
}
