# The app by default; the command line with: docker run --rm IMAGE python -m explorer scenario dense_mse
FROM python:3.11-slim

# Where to look for packages beside PyPI; PyTorch's index of CPU builds makes the image some gigabytes smaller:
#   docker build --build-arg EXTRA_INDEX=https://download.pytorch.org/whl/cpu .
ARG EXTRA_INDEX=""
# What else to install, such as Dask for a cluster (docs/how-to/compose.yaml).
ARG EXTRA_PACKAGES=""

# The OpenMP runtime, which MindSpore's wheel expects of the system.
RUN apt-get update && apt-get install -y --no-install-recommends libgomp1 && rm -rf /var/lib/apt/lists/*

WORKDIR /explorer
COPY requirements.txt .
RUN pip install --no-cache-dir ${EXTRA_INDEX:+--extra-index-url "$EXTRA_INDEX"} -r requirements.txt ${EXTRA_PACKAGES}

COPY app.py .
COPY .streamlit .streamlit
COPY explorer explorer
COPY scenarios scenarios

RUN useradd --create-home explorer && mkdir out && chown explorer out
USER explorer

# So that a first visitor waits for nothing. A machine whose processor rounds otherwise asks again.
RUN python -m explorer warm

EXPOSE 8501
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s \
  CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://localhost:8501/_stcore/health', timeout=4)"]
CMD ["python", "-m", "explorer", "app", "--server.address=0.0.0.0", "--server.port=8501"]
