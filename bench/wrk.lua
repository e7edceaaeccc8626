-- wrk's part of bench/generator.py: sends the requests of a file one after the other, over and over,
-- from a given one on. The file holds each request behind a line with its length.

local requests, place = {}, 0

function init(arguments)
  local file = assert(io.open(arguments[1], "rb"))
  for length in function() return file:read("*l") end do
    requests[#requests + 1] = file:read(tonumber(length))
  end
  file:close()
  place = tonumber(arguments[2])
end

function request()
  place = place % #requests + 1
  return requests[place]
end

function done(summary, latency, _)
  local lost = summary.errors.connect + summary.errors.read + summary.errors.write
      + summary.errors.timeout
  io.write(string.format(
    '\n{"answers": %d, "seconds": %f, "refused": %d, "lost": %d, "p50_ms": %f, "p99_ms": %f}\n',
    summary.requests, summary.duration / 1e6, summary.errors.status, lost,
    latency:percentile(50) / 1e3, latency:percentile(99) / 1e3))
end
