# One process of the app, as compose.yaml runs it.
FROM python:3.11.13-slim-bookworm
RUN apt-get update \
    && apt-get install --yes --no-install-recommends git libgomp1 \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home papertrail
WORKDIR /home/papertrail/app
COPY pyproject.toml requirements.txt requirements.lock ./
COPY deployment/requirements.py deployment/
# The locks hold all but torch, of which this takes the build for processors.
RUN pip install --no-cache-dir --no-deps --require-hashes -r requirements.lock \
    && python deployment/requirements.py postgres > postgres.txt \
    && pip install --no-cache-dir --extra-index-url https://download.pytorch.org/whl/cpu -r requirements.txt -r postgres.txt
COPY . .
RUN mkdir --parents /home/papertrail/home && chown papertrail: /home/papertrail/home
USER papertrail
EXPOSE 8501
CMD ["python", "-m", "streamlit", "run", "streamlit_app.py", "--server.address=0.0.0.0", "--server.port=8501"]
