// Holds the served pages in a browser: `node tests/browser/pages.mjs CHROMIUM ADDRESSES [FOLDER]`.
// ADDRESSES is JSON: `tryIt` is the address of the reference with a developer's credentials behind its
// #, the others are those of the page for people with tokens behind theirs. Into FOLDER go pictures for
// people to look at. Each fault is a line; without one it ends with 0.

import { chromium } from 'playwright-core'
import { counted, faults, program } from './holding.mjs'
import { pageForPeople } from './people.mjs'
import { reference } from './reference.mjs'

async function main() {
  const browser = await chromium.launch({ executablePath: program, args: ['--no-sandbox'] })
  try {
    await Promise.all([...pageForPeople(browser), ...reference(browser)])
  } catch (error) {
    faults.push(error.stack)
  } finally {
    await browser.close()
  }
  console.log([...faults, `${counted.pages} pages, ${counted.rules} rules of axe held, ${faults.length} faults`].join('\n'))
  process.exitCode = faults.length > 0 ? 1 : 0
}

await main()
