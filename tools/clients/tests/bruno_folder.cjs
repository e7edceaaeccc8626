// Writes a collection as the folder that Bruno makes of it when it imports the file:
// `node tools/clients/tests/bruno_folder.cjs FILE FOLDER`. Its runner reads folders only.

const { readFileSync } = require('node:fs')
const { createCollectionFromBrunoObject } = require('@usebruno/cli/src/utils/collection')

const [file, folder] = process.argv.slice(2)
createCollectionFromBrunoObject(JSON.parse(readFileSync(file, 'utf8')), folder, { format: 'bru' })
