// Converter of the contract to collections for Postman and Bruno:
// `node tools/clients/collections.mjs FOLDER`.
// Each request has the example body of the contract; the user of a collection sets its variables.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { postmanToBruno } from '@usebruno/converters'
import { convertV2 } from 'openapi-to-postmanv2'

const VARIABLES = {
  baseUrl: 'http://127.0.0.1:8000',
  business_id: '',
  bearerToken: '',
  basicAuthUsername: '',
  basicAuthPassword: ''
}

const folder = process.argv[2]
const contract = readFileSync(join(folder, 'accounting.yaml'), 'utf8')
const options = { folderStrategy: 'Tags', parametersResolution: 'Example' }
const converted = await promisify(convertV2)({ type: 'string', data: contract }, options)
if (!converted.result) throw new Error(converted.reason)

const collection = converted.output[0].data
collection.variable = Object.entries(VARIABLES).map(([key, value]) => ({ key, value }))
for (const request of requestsOf(collection)) {
  for (const each of [...request.url.variable, ...(request.body?.urlencoded ?? [])]) {
    if (each.key === 'business_id') each.value = '{{business_id}}'
    if (each.key === 'client_id') each.value = '{{basicAuthUsername}}'
  }
}
write('accounting.postman.json', collection)
write('accounting.bruno.json', (await postmanToBruno(collection)).collection)

/** Yield all requests of a collection, including those in folders. */
function* requestsOf(part) {
  if (part.request) yield part.request
  for (const item of part.item ?? []) yield* requestsOf(item)
}

function write(name, content) {
  writeFileSync(join(folder, name), JSON.stringify(content))
}
