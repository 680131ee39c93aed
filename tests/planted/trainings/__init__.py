"""Small trainings that PyTorch and MindSpore really run, each as it should be or with one mistake."""
