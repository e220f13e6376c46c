import type { WallsPlan } from '../walls.ts'
import { removeFunctions } from './removed-functions.ts'
import { raiseWalls } from './walls.ts'

/** The walls of this process. This is the first module of it, so that they stand before any other runs. */
export const walls = raiseWalls(JSON.parse(process.argv[2] ?? '') as WallsPlan)
process.argv.length = 2
// bubblewrap names the folder in it.
for (const name of Object.keys(process.env)) Reflect.deleteProperty(process.env, name)
removeFunctions()
